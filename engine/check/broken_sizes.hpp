// Sizes with which a kernel breaks a law, although it keeps it with others.
#pragma once

#include <vector>

#include "check/budget.hpp"
#include "check/skeleton.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Executes the program abstractly with small values of each number of a launch. Returns what breaks with
/// some of them, whatever the other numbers are; a note says with which. What breaks only up to some size, as
/// with fewer blocks than a ring has stages, or with all but multiples of a number, is a warning: the kernel
/// may not be meant for them. Nothing where that takes too long.
std::vector<Diagnostic> broken_sizes(const Program& program, const Skeleton& skeleton, const Budget& budget);

}  // namespace wgrun::check
