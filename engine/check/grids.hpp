// WG-RACE-05 as far as a program alone tells.
#pragma once

#include <vector>

#include "check/check.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns the accesses to global memory that come before griddepcontrol.wait, to tensors that the program
/// accesses after it too (WG-RACE-05); of a compiler's program without a wait that lets other launches begin,
/// the first access. They are warnings: what the launches before touch is not known.
std::vector<Diagnostic> before_grids(const Program& program, Made made);

}  // namespace wgrun::check
