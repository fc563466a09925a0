// The end of a program.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Returns the place of the kernel's last statement: of the whole loop or branch, if it is one.
Where end_of(const Program& program);

}  // namespace wgrun
