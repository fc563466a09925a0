// WG-PERF-06: a wait_group 0 that only keeps the next wgmma from starting.
#include <algorithm>
#include <utility>

#include "check/walker.hpp"

namespace wgrun::check {

std::vector<Diagnostic> performance(const Program& program) {
    Findings laws, remarks;
    Walker walker(program, laws);
    walker.watch_speed(remarks);
    walker.run();
    return std::move(remarks).sorted(program.where().file);
}

/// Called before a wait_group waits.
void Walker::drained(int pending) {
    meets_others_ = false;
    if (remarks_ == nullptr) return;
    Drain drain;
    if (pending == 0)
        for (const Flight& flight : state_.flights)
            if (flight.age != Flight::uncommitted && holds(flight.pending))
                drain.mmas.push_back({flight.mma, flight.shape});
    if (!drain.mmas.empty()) drain.wait = step_;
    state_.drain = std::move(drain);
}

/// Called when a thread accesses the register.
void Walker::drain_needed(Reg reg) {
    const int slot = plan_.slots[reg.id];
    const bool theirs = std::ranges::any_of(state_.drain.mmas, [&](const Drain::Mma& mma) {
        return plan_.mmas.at(mma.step).part(slot).has_value();
    });
    if (theirs) state_.drain = {};
}

/// Called when another wgmma is issued. It did not need the wait if it shares registers with those waited for
/// only in the same role: accumulators of the same shape, or fragments.
void Walker::drained_for(const isa::AsyncMma& mma) {
    meets_others_ = false;
    if (state_.drain.wait == nullptr) return;
    const Drain drain = std::exchange(state_.drain, {});
    const MmaRegisters& mine = plan_.mmas.at(step_);
    const bool apart = std::ranges::all_of(drain.mmas, [&](const Drain::Mma& other) {
        const MmaRegisters& theirs = plan_.mmas.at(other.step);
        return !theirs.accumulators.meets(mine.sources) && !mine.accumulators.meets(theirs.sources) &&
               (other.shape == mma.same_shape_key || !theirs.accumulators.meets(mine.accumulators));
    });
    if (apart)
        remarks_->add(
            rules::WG_PERF_06, drain.wait->where,
            "the tensor cores run dry here: nothing between this wait and the next wgmma needs it",
            "k:wgmma_wait_group(1) in its place, and k:wgmma_wait_group(0) before the accumulators are used",
            {{step_->where, "the next wgmma"}});
}

}  // namespace wgrun::check
