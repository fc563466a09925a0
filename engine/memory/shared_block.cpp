#include "memory/shared_block.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace wgrun::memory {

namespace {

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

std::uint64_t whole_pages(std::uint64_t bytes) {
    return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/// ftruncate would not only fail beyond it, but send SIGXFSZ.
bool within_file_limit(std::uint64_t bytes) {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

/// The file accepts any size, so impossible sizes are refused here, as the heap would refuse them.
std::uint64_t memory_of_machine() {
    struct sysinfo info {};
    if (::sysinfo(&info) != 0) return 0;
    return (std::uint64_t{info.totalram} + info.totalswap) * info.mem_unit;
}

struct Entry {
    std::uint64_t offset;
    std::size_t bytes;
};

// The existing blocks, by address. Never destroyed, since tensors may outlive static objects.
struct Registry {
    std::mutex mutex;
    std::shared_ptr<SharedBlock::File> file;
    std::map<std::uintptr_t, Entry> blocks;  // of that file
};

Registry& registry() {
    static Registry* const instance = new Registry;
    return *instance;
}

std::atomic<void (*)(std::uint64_t) noexcept> release_hook = nullptr;

}  // namespace

/// The file of all blocks that one process makes. Two processes must not give out ranges of the same file, so
/// a forked child begins one of its own.
class SharedBlock::File {
  public:
    File() : descriptor_(::memfd_create("wgrun", MFD_CLOEXEC)), process_(::getpid()) {}
    ~File() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    int descriptor() const { return descriptor_; }
    bool ours() const { return ::getpid() == process_; }

    /// A range of `bytes` (whole pages) after all others.
    std::optional<std::uint64_t> extend(std::uint64_t bytes) {
        constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
        if (descriptor_ < 0 || bytes > most - end_ || !within_file_limit(end_ + bytes)) return std::nullopt;
        if (::ftruncate(descriptor_, static_cast<off_t>(end_ + bytes)) != 0) return std::nullopt;
        return std::exchange(end_, end_ + bytes);
    }

    /// Returns the memory of the range to the system.
    void punch(std::uint64_t offset, std::uint64_t bytes) const {
        if (ours())
            ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                        static_cast<off_t>(bytes));
    }

  private:
    int descriptor_;
    pid_t process_;
    std::uint64_t end_ = 0;
};

namespace {

/// The file of this process. The registry's mutex is held.
SharedBlock::File& current_file(Registry& all) {
    if (!all.file || !all.file->ours()) {
        all.file = std::make_shared<SharedBlock::File>();
        all.blocks.clear();
    }
    return *all.file;
}

}  // namespace

std::optional<SharedBlock> SharedBlock::make(std::size_t bytes) {
    if (bytes == 0 || bytes > memory_of_machine()) return std::nullopt;
    std::optional<SharedBlock> block;  // outlives the lock, which its destructor would take
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    File& file = current_file(all);
    const std::uint64_t length = whole_pages(bytes);
    const std::optional<std::uint64_t> offset = file.extend(length);
    if (!offset) return std::nullopt;
    void* data = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(),
                        static_cast<off_t>(*offset));
    if (data == MAP_FAILED) return std::nullopt;
    block = SharedBlock(all.file, static_cast<std::byte*>(data), bytes, *offset);
    all.blocks[reinterpret_cast<std::uintptr_t>(data)] = {*offset, bytes};
    return block;
}

SharedBlock::SharedBlock(std::shared_ptr<File> file, std::byte* data, std::size_t bytes, std::uint64_t offset)
    : file_(std::move(file)), data_(data), bytes_(bytes), offset_(offset) {}

SharedBlock::SharedBlock(SharedBlock&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      offset_(other.offset_) {}

SharedBlock& SharedBlock::operator=(SharedBlock&& other) noexcept {
    if (this == &other) return *this;
    close();
    file_ = std::move(other.file_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    offset_ = other.offset_;
    return *this;
}

SharedBlock::~SharedBlock() { close(); }

void SharedBlock::close() noexcept {
    if (data_ == nullptr) return;
    const std::uint64_t length = whole_pages(bytes_);
    if (file_->ours()) {
        Registry& all = registry();
        {
            const std::lock_guard lock(all.mutex);
            all.blocks.erase(reinterpret_cast<std::uintptr_t>(data_));
        }
        if (const auto hook = release_hook.load()) hook(offset_);
    }
    ::munmap(data_, length);
    file_->punch(offset_, length);
    file_.reset();
    data_ = nullptr;
    bytes_ = 0;
}

std::optional<Place> find(const void* address, std::size_t bytes) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    if (!all.file || !all.file->ours()) return std::nullopt;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    auto it = all.blocks.upper_bound(at);
    if (it == all.blocks.begin()) return std::nullopt;
    --it;
    const std::size_t within = at - it->first;
    const Entry& block = it->second;
    if (within > block.bytes || bytes > block.bytes - within) return std::nullopt;
    return Place{all.file->descriptor(), block.offset, block.bytes, within};
}

int file() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    return current_file(all).descriptor();
}

void on_release(void (*hook)(std::uint64_t block) noexcept) { release_hook = hook; }

}  // namespace wgrun::memory
