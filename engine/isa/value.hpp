// What is known about a value before the kernel runs: its uniformity and its provenance.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// The threads over which a value is the same, from the fewest to the most.
enum class Uniform : std::uint8_t { thread, warp, warpgroup, cta, grid };
std::string_view to_string(Uniform uniform);

/// The abstract value of a register, as far as the checker follows it.
struct Value {
    Uniform uniform = Uniform::thread;
    bool is_descriptor = false;  ///< `buffer` is that of a matrix descriptor
    /// s >= 0: it depends on the thread through tid.x >> s alone; with a constant c it is (tid.x >> s) + c.
    int thread_shift = -1;
    int buffer = -1;                       ///< an address inside (or descriptor of) this shared buffer
    std::optional<std::int64_t> constant;  ///< 32-bit values are sign-extended
    std::optional<std::int64_t> offset;    ///< bytes from the buffer's start, when known
};

}  // namespace wgrun::isa
