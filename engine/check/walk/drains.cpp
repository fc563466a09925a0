#include "check/walk/drains.hpp"

#include <algorithm>
#include <utility>

namespace wgrun::check::walk {

void Drains::waits(int pending) {
    scene_.meets_others = false;
    if (scene_.remarks == nullptr) return;
    Drain drain;
    if (pending == 0)
        for (const Flight& flight : *scene_.state.flights)
            if (flight.age != Flight::uncommitted && scene_.holds(Property::none, flight.pending))
                drain.mmas.push_back({flight.mma, flight.shape});
    if (!drain.mmas.empty()) drain.wait = scene_.step;
    scene_.state.drain = std::move(drain);
}

void Drains::needed(int slot) {
    const bool theirs = std::ranges::any_of(scene_.state.drain.mmas, [&](const Drain::Mma& mma) {
        return scene_.plan.mmas.at(mma.step).part(slot).has_value();
    });
    if (theirs) scene_.state.drain = {};
}

/// Called when another wgmma is issued. It did not need the wait if it shares registers with those waited for
/// only in the same role: accumulators of the same shape, or fragments.
void Drains::issues(const isa::AsyncMma& mma) {
    scene_.meets_others = false;
    if (scene_.state.drain.wait == nullptr) return;
    const Drain drain = std::exchange(scene_.state.drain, {});
    const MmaRegisters& mine = scene_.plan.mmas.at(scene_.step);
    const bool apart = std::ranges::all_of(drain.mmas, [&](const Drain::Mma& other) {
        const MmaRegisters& theirs = scene_.plan.mmas.at(other.step);
        return !theirs.accumulators.meets(mine.sources) && !mine.accumulators.meets(theirs.sources) &&
               (other.shape == mma.same_shape_key || !theirs.accumulators.meets(mine.accumulators));
    });
    if (apart)
        scene_.remarks->add(
            rules::WG_PERF_06, drain.wait->where,
            "the tensor cores run dry here: nothing between this wait and the next wgmma needs it",
            "k:wgmma_wait_group(1) in its place, and k:wgmma_wait_group(0) before the accumulators are used",
            {{scene_.step->where, "the next wgmma"}});
}

}  // namespace wgrun::check::walk
