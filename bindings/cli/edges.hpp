// Launches of kernels with the sizes at the edges of what their scripts declare: for check --dynamic all of
// them, for check a few that are looked ahead at.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bindings/cli/host.hpp"
#include "wgrun/edge_sizes.hpp"
#include "wgrun/finding_set.hpp"

namespace wgrun::cli {

/// The launches of one kernel that declares sizes.
struct LookedAt {
    std::string kernel;
    Where where;  ///< the declaration
    std::vector<SizeRange> ranges;
    std::vector<std::vector<std::int64_t>> launches;  ///< values in the order of `ranges`
    std::vector<std::vector<std::int64_t>> left_out;  ///< those that would have taken too long
};

/// What the launches have shown.
struct Sweep {
    std::vector<LookedAt> kernels;
    FindingSet findings;  ///< each at the first size that has it
    int code = Exit::ok;  ///< the reason why the sweep did not complete
};

/// Traces the script, and launches its kernels on the simulator with edge sizes; `seeds` schedules take
/// turns. Kernels whose scripts declare no sizes are left out. `before` is called before each launch, with
/// the sizes that it has, "n = 65".
using BeforeLaunch = std::function<void(Kernel&, const RunOptions&, const std::string& sizes)>;
Sweep sweep_sizes(const Request& request, int seeds, const BeforeLaunch& before = {});

/// Looks ahead at launches with a few edge sizes, in the state that has traced the script: nothing runs but
/// what check makes up. An error that a script raises there is no finding: it may compare results. `sweep`
/// outlives the state.
void look_ahead_at_sizes(lua_State* L, Sweep& sweep);

/// "n = 1, 127, 128; k = 64": the values that each size had.
std::string values_of(const LookedAt& kernel);

}  // namespace wgrun::cli
