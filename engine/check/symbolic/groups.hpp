// Accesses that differ by multiples of a constant, as those of an unrolled loop do, as one access with an
// index.
#pragma once

#include <vector>

#include "check/symbolic/accesses.hpp"

namespace wgrun::check::symbolic {

/// Returns the accesses of the list, so joined.
std::vector<Access> grouped(Atoms& atoms, std::vector<Access> list);

}  // namespace wgrun::check::symbolic
