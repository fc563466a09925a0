// The threads that have written to a place, for watches and for `who`.
#pragma once

#include "debug/debug_symbols.hpp"

namespace wgrun::debugging {

/// An operation that changed a place.
struct Write {
    int warp = -1;           ///< the warp of the cluster that executed it; -1: a copy has landed
    std::uint32_t pc = 0;    ///< of the operation, or of the step that issued the copy
    int thread = -1;         ///< the thread of the cluster that issued the copy
    std::uint64_t time = 0;  ///< as stops print it
};

/// "time 17: k.lua:5, cta 0 warp 1, threads 32-35".
std::string words_of(const Write& write, sim::View view, const Place& place, Dim3 grid);

/// A number in hexadecimal; only the first 16 bytes of a longer one.
std::string text_of_bytes(const std::vector<std::byte>& bytes);

}  // namespace wgrun::debugging
