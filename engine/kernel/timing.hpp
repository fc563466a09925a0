// Statistics of several rounds.
#pragma once

#include <vector>

#include "wgrun/kernel.hpp"

namespace wgrun {

/// Median, least and greatest of `us` (microseconds, at least one), and the rate for `flops` operations.
Timing summary(std::vector<double> us, double flops, Backend backend);

}  // namespace wgrun
