// Arguments for a kernel of which nothing but its text is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wgrun/program.hpp"

namespace wgrun {

/// The arguments of a launch, as sim::SimulatedLaunch takes them.
struct SyntheticParams {
    std::vector<std::uint64_t> values;
    std::vector<std::vector<std::byte>> structures;
    std::vector<bool> addresses;  ///< by parameter: it is one of memory, and no number
};

/// Returns whether the value is the address that synthetic_params() gives a parameter, or a member of one.
bool is_synthetic_address(std::uint64_t value);

/// Returns arguments whose numbers are all `number`, also those within structures, and 1 where they have 8
/// bits. A value of 64 bits that the program uses as an address, or adds to one, is the address of no
/// memory.
SyntheticParams synthetic_params(const Program& program, std::uint32_t number);

}  // namespace wgrun
