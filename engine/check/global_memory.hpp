// What is proved of accesses to global memory for all launches: that those of different CTAs and threads do
// not meet, and where they end (check/symbolic/).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "check/budget.hpp"
#include "check/gaps.hpp"
#include "check/launch_limit.hpp"
#include "check/outline.hpp"

namespace wgrun::check {

struct GlobalMemoryProof {
    std::vector<std::string> numbers;  ///< parameters that are taken to be at least 1
    std::set<std::string> flat;        ///< dimensions of the grid that have one CTA: "nctaid.z"
    std::string extents;  ///< what a launch has to keep for bounds: "d holds 4 * m * n bytes"; empty: nothing
    std::vector<LaunchLimit> limits;  ///< so that addresses do not wrap around
};

/// Adds to `gaps` what is not proved of races and bounds. grid: the CTAs of the only one; 0: any.
/// Thread-safe.
GlobalMemoryProof prove_global_memory(const Outline& outline, const Budget& budget, Gaps& gaps, Dim3 grid);

}  // namespace wgrun::check
