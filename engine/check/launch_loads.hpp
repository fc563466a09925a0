// Loads of numbers that stay what they are for as long as a launch runs: all threads that load one get the same.
#pragma once

#include <unordered_map>

#include "check/check.hpp"

namespace wgrun::check {

/// Steps, and of each the index of the parameter whose memory it reads.
using LaunchLoads = std::unordered_map<const Step*, int>;

/// Returns the weak loads of a number of 32 bits from the memory of a pointer parameter to which no step of
/// the program writes. Different parameters are taken for different memory.
LaunchLoads launch_loads(const Program& program, Made made);

}  // namespace wgrun::check
