// Where a program ends.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// The place of the last statement of the kernel: of the whole loop or branch, if it is one.
Where end_of(const Program& program);

}  // namespace wgrun
