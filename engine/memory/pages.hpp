// Memory for tables that are large and mostly never touched.
#pragma once

#include <cstddef>
#include <memory>

namespace wgrun::memory {

/// Bytes that are 0. Of many, a page takes memory, and time, when it is first accessed.
class Pages {
  public:
    /// Throws std::bad_alloc.
    explicit Pages(std::size_t bytes);
    std::byte* data() const { return data_.get(); }
    std::size_t bytes() const { return data_.get_deleter().bytes; }
    /// Makes them so many bytes, not fewer than there are: what is new is 0. They may all move. Throws
    /// std::bad_alloc.
    void grow(std::size_t bytes);

  private:
    struct Release {
        std::size_t bytes;
        void operator()(std::byte* data) const;
    };
    std::unique_ptr<std::byte, Release> data_;
};

}  // namespace wgrun::memory
