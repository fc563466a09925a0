// Lays a trace out in time: an event simulation of one SM for each CTA of the cluster.
#pragma once

#include "timeline/cost.hpp"
#include "timeline/roles.hpp"
#include "timeline/trace.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::timeline {

/// How an SM is filled.
struct Occupancy {
    int ctas = 1;       ///< that the SM runs in all, each like the recorded one
    int resident = 1;   ///< of them at a time
    double missed = 0;  ///< share of the bytes from and to global memory that are not in the L2 cache
};

struct Schedule {
    double cycles = 0;
    double tensor_busy = 0, memory_busy = 0;  ///< cycles, of the first SM
    std::vector<Timeline::Span> spans;        ///< of the rows of `roles`, then tensor core, memory, flight
    std::vector<int> barriers;                ///< by span: that is waited for; -1: none
};

/// Every warp executes its steps in their order; a wait ends when what the trace says has come; engines serve
/// in the order of the requests. Equal traces give equal schedules.
Schedule schedule(const sim::Code& code, const Costs& costs, const Trace& trace, const Occupancy& occupancy,
                  const Roles& roles, std::size_t registers);

}  // namespace wgrun::timeline
