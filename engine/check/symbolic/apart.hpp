// Whether two accesses never touch the same bytes in two executions: for all launches, CTAs, threads and
// turns of loops.
//
// From the assumption that they do it follows, step by step, which atoms of the two executions are equal: by
// isl where that is linear; since functions of equal numbers are equal; and by the row-major argument, that
// x * n + y = 0 with |y| < n means x = 0 and y = 0. In the end nothing satisfies all of it, or the two
// executions are one.
#pragma once

#include <string>

#include "check/symbolic/accesses.hpp"
#include "check/symbolic/system.hpp"

namespace wgrun::check::symbolic {

/// Returns why they may meet: "different ctaid.x"; empty: they do not, unless one thread executes both, one
/// after the other. flat: gets the dimensions of the grid that are taken to have one CTA, since the kernel
/// does not ask for the place in them.
std::string meeting(const Solver& solver, const Accesses& of, const Access& a, const Access& b,
                    std::set<std::string>& flat);

}  // namespace wgrun::check::symbolic
