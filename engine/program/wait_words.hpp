// What is said of those who wait in vain: by the rehearsal, by the simulator, and of a guarded run on a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wgrun/program.hpp"

namespace wgrun::wait_words {

/// The rule that a wait without end breaks, and what mends it.
struct Law {
    std::string_view rule, fix;
};
Law law(isa::Awaits wait);

/// "warp 3", "warps 0, 1, 5", "warps 4-7": bit w stands for warp w.
std::string names(std::uint32_t warps);

/// "3 of 4 arrivals have come, 16384 bytes are outstanding"
std::string what_has_come(std::int64_t arrivals, std::int64_t expected, std::int64_t bytes);

/// "`full` + 16": the buffer that holds this byte of the CTA's dynamic shared memory.
std::string place(const Program& program, std::uint32_t offset);

}  // namespace wgrun::wait_words
