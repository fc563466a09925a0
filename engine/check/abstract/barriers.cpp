#include "check/abstract/barriers.hpp"

#include <fmt/format.h>

#include <utility>

#include "isa/order.hpp"

namespace wgrun::check::abstract {

Barriers::Barriers(ExecutionState& execution, Faults& report, Mbarriers& mbarriers)
    : execution_(execution),
      report_(report),
      mbarriers_(mbarriers),
      ctas_(static_cast<std::size_t>(execution.ctas)) {
    reset(execution.warps.size());
    for (int rank = 0; rank < execution.ctas; ++rank) {
        Cta& cta = ctas_[static_cast<std::size_t>(rank)];
        cta.first = execution.first(rank);
        cta.barriers.reset(execution.warps_per_cta);
    }
}

void Barriers::fault(rules::RuleMessage message, std::uint32_t other, std::string_view note) {
    std::vector<Note> notes;
    if (other != machine::no_pc) notes.push_back({execution_.where(other), std::string(note)});
    report_.fault(std::move(message), std::move(notes));
}

/// In a proof: what comes again to a barrier knows that the last time is over, or it might count for that.
void Barriers::arrives(Cta& cta, std::uint32_t id, bool) {
    const Warp& warp = *execution_.warp;
    if (execution_.proves && !cta.passed[id].empty() &&
        !warp.known.meets(cta.passed[id], warp.number, warp.now))
        execution_.stop(
            execution_.op->where,
            fmt::format(
                "the proof knows of nothing that orders the arrival behind the last time that barrier {} was "
                "complete",
                id));
    execution_.release(cta.meetings[id]);
}

void Barriers::waits_at(std::uint32_t id) {
    execution_.warp->state = Warp::State::at_barrier;
    execution_.warp->barrier = id;
}

void Barriers::continues(Cta& cta, int number, std::uint32_t id) {
    Warp& warp = execution_.warps[static_cast<std::size_t>(number)];
    execution_.acquire(warp, cta.meetings[id]);
    warp.state = Warp::State::ready;
    if (!execution_.proves) return;
    // It knows of itself what it has passed.
    ExecutionState::gather(warp);
    warp.known.learn(warp.number, warp.now);
    cta.fresh[id].learn(warp.number, warp.now++);
}

void Barriers::arrives_at_cluster() {
    if (isa::arrival_order(*execution_.op->step).release)
        execution_.release(meeting_);
    else
        mbarriers_.release_announced(meeting_);
}

void Barriers::cluster_completed() {
    met_.learn(meeting_);
    meeting_.clear();
    execution_.wake(Warp::Wait::cluster, [](const Warp&) { return true; });
}

void Barriers::passes_cluster(std::uint32_t) {
    execution_.acquire(*execution_.warp, met_);
    mbarriers_.announced_to_warp(met_);
    if (execution_.proves && (execution_.warp->all & ~execution_.active) == 0)
        ExecutionState::gather(*execution_.warp);
}

}  // namespace wgrun::check::abstract
