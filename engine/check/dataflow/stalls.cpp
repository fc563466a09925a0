#include "check/dataflow/stalls.hpp"

#include <algorithm>
#include <utility>

namespace wgrun::check::dataflow {

void Stalls::waits(int pending) {
    analysis_.meets_others = false;
    if (analysis_.remarks == nullptr) return;
    Drain drain;
    if (pending == 0)
        for (const InFlightMma& flight : *analysis_.state.flights)
            if (flight.age != InFlightMma::uncommitted && analysis_.holds(Property::none, flight.pending))
                drain.mmas.push_back({flight.mma, flight.shape});
    if (!drain.mmas.empty()) drain.wait = analysis_.step;
    analysis_.state.drain = std::move(drain);
}

void Stalls::needed(int slot) {
    const bool theirs = std::ranges::any_of(analysis_.state.drain.mmas, [&](const Drain::Mma& mma) {
        return analysis_.plan.mmas.at(mma.step).part(slot).has_value();
    });
    if (theirs) analysis_.state.drain = {};
}

/// Called when another wgmma is issued. It did not need the wait if it shares registers with those waited for
/// only in the same role: accumulators of the same shape, or fragments.
void Stalls::issues(const isa::AsyncMma& mma) {
    analysis_.meets_others = false;
    if (analysis_.state.drain.wait == nullptr) return;
    const Drain drain = std::exchange(analysis_.state.drain, {});
    const MmaRegisters& mine = analysis_.plan.mmas.at(analysis_.step);
    const bool apart = std::ranges::all_of(drain.mmas, [&](const Drain::Mma& other) {
        const MmaRegisters& theirs = analysis_.plan.mmas.at(other.step);
        return !theirs.accumulators.meets(mine.sources) && !mine.accumulators.meets(theirs.sources) &&
               (other.shape == mma.same_shape_key || !theirs.accumulators.meets(mine.accumulators));
    });
    if (apart)
        analysis_.remarks->add(
            rules::WG_PERF_06, drain.wait->where,
            "the tensor cores run dry here: nothing between this wait and the next wgmma needs it",
            "k:wgmma_wait_group(1) in its place, and k:wgmma_wait_group(0) before the accumulators are used",
            {{analysis_.step->where, "the next wgmma"}});
}

}  // namespace wgrun::check::dataflow
