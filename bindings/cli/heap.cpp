// operator new and delete of the tool: those of the C++ library, and a count of what they give, so that
// --max-memory bounds the engine's memory, too.
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "memory/heap_limit.hpp"

namespace {

namespace memory = wgrun::memory;

/// Null: there is no memory, or the limit is reached.
void* taken(void* block) noexcept {
    if (block == nullptr || memory::heap_limit() == 0 || memory::count_taken(malloc_usable_size(block)))
        return block;
    std::free(block);
    return nullptr;
}

void* allocated(std::size_t size) noexcept { return taken(std::malloc(size == 0 ? 1 : size)); }

void* allocated(std::size_t size, std::align_val_t alignment) noexcept {
    const auto align = static_cast<std::size_t>(alignment);
    return taken(std::aligned_alloc(align, (size + align - 1) / align * align));
}

void* required(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

void release(void* block) noexcept {
    if (memory::heap_limit() != 0) memory::count_given(malloc_usable_size(block));
    std::free(block);
}

}  // namespace

// Those of arrays call these, and those that do not throw would: but a sanitizer has its own, and no delete
// for them.
void* operator new(std::size_t size) { return required(allocated(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocated(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return required(allocated(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocated(size, alignment);
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
