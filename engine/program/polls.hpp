// Waits that a program makes of looking again and again.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Does the step look at an mbarrier, or with a strong access at memory?
bool polls(const Step& step);

/// Does the loop look at something, and do nothing but look?
bool only_looks(const Loop& loop);

/// Has it an operand that is an address?
bool accesses_memory(const Step& step);

}  // namespace wgrun
