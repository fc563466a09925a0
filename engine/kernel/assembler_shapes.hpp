// The shapes of kernels that known faults of ptxas need. Each function returns where a kernel has it.
#pragma once

#include <optional>

#include "wgrun/program.hpp"

namespace wgrun {

/// The first wgmma with A in registers, in a kernel that waits for groups but the last ones.
std::optional<Where> keeps_fragments_in_flight(const Program& program);

/// The second sum of 16-bit pairs that adds the same register, which holds a constant.
std::optional<Where> adds_a_pair_twice(const Program& program);

/// The second of two products of a group that are equal.
std::optional<Where> repeats_a_product(const Program& program);

/// A shift to the left of 64 bits by a constant of 64 or more.
std::optional<Where> shifts_everything_out(const Program& program);

/// A descriptor that adds a constant to an address to which others of another layout are added, too.
std::optional<Where> describes_in_two_layouts(const Program& program);

/// A descriptor that adds a constant whose lower half is 0 to an address.
std::optional<Where> adds_an_upper_half(const Program& program);

}  // namespace wgrun
