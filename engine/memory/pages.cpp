#include "memory/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace wgrun::memory {

namespace {

/// Fewer bytes cost less to clear than to map: threads that map and unmap interrupt each other.
constexpr std::size_t mapped_from = 1U << 20;

void* allocated(std::size_t bytes) {
    if (bytes < mapped_from) return std::calloc(std::max<std::size_t>(bytes, 1), 1);
    // calloc takes blocks from memory that has been used before, and clears it.
    void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? nullptr : data;
}

}  // namespace

void Pages::Release::operator()(std::byte* data) const {
    if (bytes < mapped_from)
        std::free(data);
    else
        ::munmap(data, bytes);
}

Pages::Pages(std::size_t bytes) : data_(static_cast<std::byte*>(allocated(bytes)), {bytes}) {
    if (!data_) throw std::bad_alloc();
}

void Pages::grow(std::size_t bytes) {
    void* const data = this->bytes() < mapped_from
                           ? MAP_FAILED
                           : ::mremap(data_.get(), this->bytes(), bytes, MREMAP_MAYMOVE);
    if (data != MAP_FAILED) {
        static_cast<void>(data_.release());
        data_ = {static_cast<std::byte*>(data), Release{bytes}};
        return;
    }
    Pages larger(bytes);  // also where nothing can be mapped anew (WebAssembly)
    std::memcpy(larger.data(), this->data(), this->bytes());
    *this = std::move(larger);
}

}  // namespace wgrun::memory
