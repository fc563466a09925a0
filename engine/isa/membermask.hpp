// The lanes that execute shfl, vote, match, redux and bar.warp.sync together.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns the operand of the step that names lanes of its warp, or null if the instruction has none.
const Operand* membermask_of(const Step& step);

}  // namespace wgrun::isa
