// Memory that another process can map, so that a worker process sees it without a copy.
//
// All blocks of a process are ranges of one anonymous file (memfd), which takes memory only where it was
// written. A range is never given out twice, so its offset names the block for ever: whoever still maps a
// block that is gone cannot mistake a later one for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace wgrun::memory {

/// Zeroed memory, aligned to a page. Moves. A forked child shares the pages of its parent's blocks.
class SharedBlock {
  public:
    /// Smaller allocations are not worth a mapping of their own.
    static constexpr std::size_t worthwhile = std::size_t{1} << 20;

    /// A block of `bytes`, at least 1. Nothing where the system gives none: no memfd, a limit of file sizes,
    /// no memory. Thread-safe.
    static std::optional<SharedBlock> make(std::size_t bytes);

    SharedBlock(SharedBlock&& other) noexcept;
    SharedBlock& operator=(SharedBlock&& other) noexcept;
    ~SharedBlock();

    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    /// Its offset in the file: a multiple of the page size.
    std::uint64_t offset() const { return offset_; }

    class File;

  private:
    SharedBlock(std::shared_ptr<File> file, std::byte* data, std::size_t bytes, std::uint64_t offset);
    void close() noexcept;

    std::shared_ptr<File> file_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::uint64_t offset_ = 0;
};

/// The place of some bytes of a block.
struct Place {
    int file = -1;            ///< descriptor of the file, open as long as the process lives
    std::uint64_t block = 0;  ///< the block's offset in the file
    std::size_t block_bytes = 0;
    std::size_t within = 0;  ///< of the bytes in the block
};

/// The place of `bytes` bytes at `address`, when they lie in one block of this process. Thread-safe.
std::optional<Place> find(const void* address, std::size_t bytes);

/// The descriptor of the file (close-on-exec), for a process that is to map blocks; -1 where there can be
/// none.
int file();

/// `hook` hears of each block that goes, by its offset, just before. It must not throw and not make or drop
/// blocks. One hook; null for none.
void on_release(void (*hook)(std::uint64_t block) noexcept);

}  // namespace wgrun::memory
