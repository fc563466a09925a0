// Which parameters the registers of a program come from.
#pragma once

#include <vector>

#include "check/check.hpp"

namespace wgrun::check {

/// Of a register that comes from no parameter, and of one that comes from several, or from memory.
inline constexpr int from_none = -1, from_several = -2;

/// By register: the pointer or the tensor map among the parameters that its value comes from, by arithmetic
/// alone. A register of less than 64 bits comes from none.
std::vector<int> pointees(const Program& program, Made made);

}  // namespace wgrun::check
