// Registers that hold a number of the launch that is at least 1, such as how many blocks cover a tensor.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns the registers that are written once, with a number of the launch that is at least 1: one of these
/// parameters, the size of the grid, or what is computed of them.
std::set<std::uint32_t> at_least_one(const Program& program, const std::set<std::string>& params);

}  // namespace wgrun::check
