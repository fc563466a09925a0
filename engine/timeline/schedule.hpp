// Lays a trace out in time: an event simulation of one SM for each CTA of the cluster.
#pragma once

#include "timeline/cost.hpp"
#include "timeline/roles.hpp"
#include "timeline/trace.hpp"
#include "wgrun/timeline.hpp"

namespace wgrun::timeline {

/// How an SM is filled.
struct Occupancy {
    int ctas = 1;       ///< CTAs that the SM runs in all, each like the recorded one
    int resident = 1;   ///< CTAs at a time
    double missed = 0;  ///< share of the bytes from and to global memory that miss the L2 cache
};

/// The bytes that the request of an item moves, with those that it has no use for.
inline double bytes_of(const Item& item, const StepCost& cost) {
    if (item.units == 0) return static_cast<double>(cost.bytes) * item.lanes;
    const bool shared = cost.kind == StepCost::Kind::shared;
    return item.units * static_cast<double>(shared ? sm_90a.banks * sm_90a.bank_bytes : sm_90a.sector);
}

struct Schedule {
    double cycles = 0;
    double tensor_busy = 0, memory_busy = 0;  ///< cycles, of the first SM
    std::vector<Timeline::Span> spans;        ///< of the rows of `roles`, then tensor core, memory, flight
    std::vector<int> barriers;                ///< by span: the barrier that is waited for; -1: none
};

/// Every warp executes its steps in order; a wait ends when everything that the trace counts has arrived;
/// engines serve requests in their order. Equal traces give equal schedules.
Schedule schedule(const sim::Code& code, const Costs& costs, const Trace& trace, const Occupancy& occupancy,
                  const Roles& roles, std::size_t registers);

}  // namespace wgrun::timeline
