// WG-PERF-09: requests to global memory that move sectors of which they use little.
#pragma once

#include "check/findings.hpp"
#include "check/outline.hpp"

namespace wgrun::check {

/// Adds what is certain from the addresses alone, whatever the launch is: of each warp, and of each box.
void find_wasted_sectors(const Outline& outline, Findings& remarks);

}  // namespace wgrun::check
