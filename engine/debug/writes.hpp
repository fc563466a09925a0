// Who has written to a place: for watches, and for `who`.
#pragma once

#include "debug/things.hpp"

namespace wgrun::debugging {

/// An operation after which a place was no longer as before.
struct Write {
    int warp = -1;           ///< of the cluster, that has executed it; -1: a copy has landed
    std::uint32_t pc = 0;    ///< of the operation, or of the step that has issued the copy
    int thread = -1;         ///< of the cluster, that has issued the copy
    std::uint64_t time = 0;  ///< as stops name it
};

/// "time 17: k.lua:5, cta 0 warp 1, threads 32-35".
std::string words_of(const Write& write, sim::View view, const Place& place, Dim3 grid);

/// A number in hexadecimal; of more than 16 bytes the first ones.
std::string text_of_bytes(const std::vector<std::byte>& bytes);

}  // namespace wgrun::debugging
