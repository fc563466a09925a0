#include "tensor/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

EnvironmentError failure(const std::string& name, int error) {
    const char* const code = error == ENOENT ? "ENOENT" : error == ENOMEM ? "ENOMEM" : "EIO";
    return EnvironmentError(code, fmt::format("{}: {}", name, std::strerror(error)));
}

}  // namespace

void check_file_name(const std::filesystem::path& path) {
    if (path.native().find('\0') != std::string::npos)
        throw ArgumentError(fmt::format("{}: the name of a file cannot contain a zero byte", path.string()));
}

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
    check_file_name(path);
    // Without NONBLOCK, opening a FIFO waits for a writer.
    descriptor_ = file::Descriptor(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!descriptor_ || ::fstat(descriptor_.get(), &status) != 0) throw failure(name_, errno);
    if (!S_ISREG(status.st_mode)) throw EnvironmentError("EIO", fmt::format("{}: not a regular file", name_));
    size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
        constexpr std::size_t most = std::size_t{1} << 30;  // at a time; Linux takes no more than 2 GiB
        const ssize_t got =
            ::pread(descriptor_.get(), to.data(), std::min(to.size(), most), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw failure(name_, errno);
        if (got == 0)
            throw EnvironmentError("EIO",
                                   fmt::format("{}: the file has become shorter since it was opened", name_));
        to = to.subspan(static_cast<std::size_t>(got));
        offset += static_cast<std::uint64_t>(got);
    }
}

std::shared_ptr<std::byte> InputFile::map() const {
    // Without NORESERVE the kernel refuses to map more than it could copy if every page were written.
    const std::size_t bytes = size_;
    void* const at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, descriptor_.get(), 0);
    if (at == MAP_FAILED) throw failure(name_, errno);
    return {static_cast<std::byte*>(at), [bytes](std::byte* start) { ::munmap(start, bytes); }};
}

}  // namespace wgrun
