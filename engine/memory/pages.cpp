#include "memory/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "memory/heap_limit.hpp"

namespace wgrun::memory {

namespace {

/// Fewer bytes cost less to clear than to map: threads that map and unmap interrupt each other.
constexpr std::size_t mapped_from = 1U << 20;

void* taken(std::size_t bytes) {
    if (bytes < mapped_from) return std::calloc(std::max<std::size_t>(bytes, 1), 1);
    // calloc takes blocks from memory that has been used before, and clears it.
    void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? nullptr : data;
}

void* allocated(std::size_t bytes) {
    if (!count_taken(bytes)) return nullptr;
    void* const data = taken(bytes);
    if (data == nullptr) count_given(bytes);
    return data;
}

}  // namespace

void Pages::Release::operator()(std::byte* data) const {
    count_given(bytes);
    if (bytes < mapped_from)
        std::free(data);
    else
        ::munmap(data, bytes);
}

Pages::Pages(std::size_t bytes) : data_(static_cast<std::byte*>(allocated(bytes)), {bytes}) {
    if (!data_) throw std::bad_alloc();
}

void Pages::grow(std::size_t bytes) {
    const std::size_t more = bytes - this->bytes();
    if (this->bytes() >= mapped_from && count_taken(more)) {
        void* const data = ::mremap(data_.get(), this->bytes(), bytes, MREMAP_MAYMOVE);
        if (data != MAP_FAILED) {
            static_cast<void>(data_.release());
            data_ = {static_cast<std::byte*>(data), Release{bytes}};
            return;
        }
        count_given(more);
    }
    Pages larger(bytes);  // also where nothing can be mapped anew (WebAssembly)
    std::memcpy(larger.data(), this->data(), this->bytes());
    *this = std::move(larger);
}

}  // namespace wgrun::memory
