// The memory of the tool's Lua state. A script that builds a kernel makes many small objects that die soon,
// and few bytes of a program that stay. From one heap, the objects come to lie in the holes between what
// stays, all over memory: the more has been built, the slower is the rest. Here they lie close together.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace wgrun::cli {

/// Blocks of a few sizes, cut from chunks that are given back when the heap is destroyed. Larger blocks are
/// those of realloc.
class LuaHeap {
  public:
    LuaHeap() = default;
    LuaHeap(const LuaHeap&) = delete;
    LuaHeap& operator=(const LuaHeap&) = delete;

    /// A lua_Alloc; its context is the heap.
    static void* allocate(void* heap, void* block, std::size_t old_size, std::size_t size);

  private:
    static constexpr std::size_t step = 16, largest = 512, chunk = std::size_t{1} << 16;
    struct Free {
        Free* next;
    };

    static bool is_small(std::size_t size) { return size <= largest; }
    static std::size_t class_of(std::size_t size) { return (size - 1) / step; }
    void* take(std::size_t size);
    void give(void* block, std::size_t size);
    void* resize(void* block, std::size_t old_size, std::size_t size);

    Free* free_[largest / step] = {};
    std::byte* next_ = nullptr;  ///< of the last chunk: what has never been used
    std::size_t left_ = 0;       ///< bytes of it
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace wgrun::cli
