#include "tests/allocations/failing.hpp"

#include <cstdlib>
#include <new>

namespace wgrun::test {

constinit Failing of_new, of_lua;

void* allocate_for_lua(void*, void* block, std::size_t old_size, std::size_t size) {
    if (size == 0) {
        if (block != nullptr) --of_lua.live;
        std::free(block);
        return nullptr;
    }
    if ((block == nullptr || size > old_size) && of_lua.next()) return nullptr;
    if (block == nullptr) ++of_lua.live;
    return std::realloc(block, size);
}

namespace {

void* allocate(std::size_t size, std::size_t alignment) {
    if (of_new.next()) throw std::bad_alloc();
    void* memory = alignment == 0
                       ? std::malloc(size == 0 ? 1 : size)
                       : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc();
    ++of_new.live;
    return memory;
}

void release(void* memory) {
    if (memory == nullptr) return;
    --of_new.live;
    std::free(memory);
}

}  // namespace
}  // namespace wgrun::test

using namespace wgrun::test;

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
// Those that return null, too: a sanitizer has its own, whose memory free() would refuse.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    try {
        return allocate(size, 0);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
