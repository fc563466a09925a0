#include "memory/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace wgrun::memory {

void Pages::Unmap::operator()(std::byte* data) const { ::munmap(data, bytes); }

// calloc takes small blocks from memory that has been used before, and clears it.
Pages::Pages(std::size_t bytes) : data_(nullptr, {std::max<std::size_t>(bytes, 1)}) {
    void* const data = ::mmap(nullptr, data_.get_deleter().bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    data_.reset(static_cast<std::byte*>(data));
}

void Pages::grow(std::size_t bytes) {
    void* const data = ::mremap(data_.get(), this->bytes(), bytes, MREMAP_MAYMOVE);
    if (data == MAP_FAILED) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_ = {static_cast<std::byte*>(data), Unmap{bytes}};
}

}  // namespace wgrun::memory
