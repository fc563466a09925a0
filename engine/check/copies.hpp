// Compilers copy registers where their languages only look at a value as another type, on either side of a
// wgmma.fence or of a wait_group. Assemblers give both registers one place, and say nothing.
#pragma once

#include <vector>

#include "check/outline.hpp"
#include "check/state.hpp"

namespace wgrun::check {

/// Returns whether `to`, which step `index` of the block alone writes, as a copy of `from`, is read only
/// where `from` still holds the same. `live`: the registers that are read after the beginning of each block.
bool stays_a_copy(const Outline& outline, const std::vector<RegisterSet>& live, BlockId block,
                  std::size_t index, Reg to, Reg from);

}  // namespace wgrun::check
