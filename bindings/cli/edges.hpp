// Launches of kernels with the sizes at the edges of what their scripts declare, or, where those are few,
// with all that are legal: for check --dynamic. For check a few are looked ahead at.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bindings/cli/host.hpp"
#include "wgrun/coverage.hpp"
#include "wgrun/edge_sizes.hpp"
#include "wgrun/finding_set.hpp"

namespace wgrun::cli {

/// The launches of one kernel that declares sizes.
struct LookedAt {
    std::string kernel;
    Where where;  ///< the declaration
    std::vector<SizeRange> ranges;
    std::vector<std::vector<std::int64_t>> launches{};  ///< values in the order of `ranges`
    /// Those that would have taken too long, alone or, of a few that were all to be launched, together.
    std::vector<std::vector<std::int64_t>> left_out{};
    std::uint64_t legal() const { return count_sizes(ranges); }
};

/// What the launches have shown.
struct Sweep {
    std::vector<LookedAt> kernels;
    FindingSet findings;  ///< each at the first size that has it
    int code = Exit::ok;  ///< the reason why the sweep did not complete
};

/// Called before each launch, with the sizes that it has, "n = 65".
using BeforeLaunch = std::function<void(Kernel&, const RunOptions&, const std::string& sizes)>;

/// Which launches, besides those of edge sizes, and who is told of them.
struct Sweeping {
    int seeds = 1;       ///< schedules, which take turns
    bool whole = false;  ///< all legal sizes, where they are few, as far as time allows
    /// Nothing but this launch, of a finding: the sizes and the seed.
    const FoundIn* only = nullptr;
    BeforeLaunch before{};
    Coverage* coverage = nullptr;  ///< null: nobody asks
    /// On a GPU guarded builds run.
    Backend backend = Backend::sim;
};

/// Traces the script, and launches its kernels on the simulator. Those whose scripts declare no sizes are
/// left out.
Sweep sweep_sizes(const Request& request, const Sweeping& how);

/// Looks ahead at launches with a few edge sizes, in the state that has traced the script: nothing runs but
/// what check makes up. An error that a script raises there is no finding: it may compare results. `sweep`
/// outlives the state.
void look_ahead_at_sizes(lua_State* L, Sweep& sweep);

/// "n = 1-63, 127, 128; k = 64": the values that each size had.
std::string values_of(const LookedAt& kernel);

}  // namespace wgrun::cli
