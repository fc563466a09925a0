// Numbers of 32 bits that are taken not to wrap around (docs/verdicts.md), and how large a launch may be so
// that they do not.
#pragma once

#include <functional>
#include <vector>

#include "check/launch_limit.hpp"
#include "check/symbolic/accesses.hpp"
#include "check/symbolic/system.hpp"

namespace wgrun::check::symbolic {

/// What a launch has to keep so that none of the numbers wraps around that an access or its conditions are
/// made of: "n <= 33554432", "2048 * m * n <= 2^32", "the number of line 12 does not wrap around".
std::vector<LaunchLimit> limits(
    const Solver& solver, Accesses& of,
    const std::function<std::vector<Polynomial>(const std::vector<Formula>&)>& facts);

}  // namespace wgrun::check::symbolic
