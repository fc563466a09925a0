// A bound of what a process takes from the heap, for programs that end where they would need more. Pages
// counts itself; a program that is to count all of its C++ objects replaces operator new and delete by
// functions that count (bindings/cli/heap.cpp). Shared blocks are not counted: they are tensors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wgrun::memory {

/// Bounds what is counted from now on by `bytes`; 0: no bound, and nothing is counted. Threads together may
/// exceed it by 1 MiB. To be called before there are threads.
void limit_heap(std::uint64_t bytes) noexcept;
/// The bound; 0: none.
std::uint64_t heap_limit() noexcept;

/// Counts the bytes of a new block. False: the bound does not allow them, and nothing was counted.
bool count_taken(std::size_t bytes) noexcept;
void count_given(std::size_t bytes) noexcept;

/// Was a block ever refused?
bool heap_refused() noexcept;

}  // namespace wgrun::memory
