#include "bindings/cli/lua_heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "memory/heap_limit.hpp"

namespace wgrun::cli {

void* LuaHeap::allocate(void* heap, void* block, std::size_t old_size, std::size_t size) {
    auto& self = *static_cast<LuaHeap*>(heap);
    if (block == nullptr) return size == 0 ? nullptr : self.take(size);  // old_size is a type
    if (size != 0) return self.resize(block, old_size, size);
    self.give(block, old_size);
    return nullptr;
}

void* LuaHeap::take(std::size_t size) {
    if (!is_small(size)) {
        if (!memory::count_taken(size)) return nullptr;
        void* const block = std::malloc(size);
        if (block == nullptr) memory::count_given(size);
        return block;
    }
    Free*& first = free_[class_of(size)];
    if (first != nullptr) {
        Free* const block = first;
        first = block->next;
        return block;
    }
    const std::size_t bytes = (class_of(size) + 1) * step;
    if (left_ < bytes) {
        try {
            chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
        next_ = chunks_.back().get();
        left_ = chunk;
    }
    std::byte* const block = next_;
    next_ += bytes;
    left_ -= bytes;
    return block;
}

void LuaHeap::give(void* block, std::size_t size) {
    if (!is_small(size)) {
        memory::count_given(size);
        return std::free(block);
    }
    Free*& first = free_[class_of(size)];
    first = new (block) Free{first};
}

void* LuaHeap::resize(void* block, std::size_t old_size, std::size_t size) {
    if (!is_small(old_size) && !is_small(size)) {
        // What grows is counted before, what shrinks behind: Lua relies on it that blocks can shrink.
        if (size > old_size && !memory::count_taken(size - old_size)) return nullptr;
        void* const moved = std::realloc(block, size);
        if (moved == nullptr && size > old_size) memory::count_given(size - old_size);
        if (moved != nullptr && size < old_size) memory::count_given(old_size - size);
        return moved;
    }
    if (is_small(old_size) && is_small(size) && class_of(old_size) == class_of(size)) return block;
    void* const moved = take(size);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(old_size, size));
    give(block, old_size);
    return moved;
}

}  // namespace wgrun::cli
