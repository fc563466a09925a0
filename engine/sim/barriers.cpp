#include "sim/barriers.hpp"

#include <bit>

#include "isa/order.hpp"

namespace wgrun::sim {

// --- of the CTA ----------------------------------------------------------------------------------------

void Barriers::arrives(Cta& cta, std::uint32_t id, bool waits) {
    scene_.signal({Signal::Kind::meeting, scene_.rank(cta), id, 0, waits ? 1U : 0U});
    if (!watches()) return;
    int& place = cta.meetings[id];
    if (place < 0) place = clocks_.add_place();
    clocks_.release(scene_.current, place, scene_.whole_warp());
}

void Barriers::waits_at(std::uint32_t id) {
    scene_.warp().state = Warp::State::at_barrier;
    scene_.warp().barrier = id;
}

void Barriers::continues(Cta& cta, int number, std::uint32_t id) {
    Warp& warp = scene_.warps[static_cast<std::size_t>(number)];
    if (watches()) clocks_.acquire(number, cta.meetings[id], {warp.all, warp.all});
    warp.state = Warp::State::ready;
}

void Barriers::check_whole() {
    const Op& op = scene_.code.ops[scene_.pc];
    if (!op.aligned && scene_.active != scene_.warp().all)
        report_.fault(rules::barrier_of_part(op.step->op->name, report_.warp()));
}

Barriers::Come Barriers::come(std::uint32_t id) {
    Warp& warp = scene_.warp();
    Warp::Part& part = warp.part;
    const isa::Mask active = scene_.active;
    if (part.counted != 0 && (active & ~part.counted) == 0) {
        part.counted &= ~active;
        return Come::counted;
    }
    if (part.come != 0 && part.barrier != id) {
        report_.fault(rules::parts_at_two_barriers(report_.warp(), part.barrier, id));
        part.counted = std::exchange(part.come, 0);
        return Come::counted;
    }
    part.come |= active;
    part.barrier = id;
    if ((warp.all & ~part.come) == 0) {
        part.counted = std::exchange(part.come, 0) & ~active;
        return Come::last;
    }
    // Lanes that a guard keeps from the barrier go on behind it.
    if (const flow::Divergence::Ways guard{scene_.pc, scene_.pc + 1, scene_.pc + 1}; active != warp.running)
        warp.parted.part(scene_.pc, guard, active, warp.running, warp.pc);
    warp.parted.let_others(warp.running, warp.pc, true);
    return Come::early;
}

void Barriers::vote(std::uint32_t id, std::uint32_t threads, isa::Vote vote, isa::Mask votes, isa::Reg to) {
    Cta& cta = own();
    Cta::Ballot& ballot = cta.ballots[id];
    const Cta::Ballot before = ballot;
    ballot.vote = vote;
    ballot.ayes += static_cast<std::uint32_t>(std::popcount(votes & scene_.active));
    ballot.voters += static_cast<std::uint32_t>(std::popcount(scene_.active));
    ballot.to.emplace_back(scene_.local(), to);
    if (!meet(id, threads, true)) cta.ballots[id] = before;
}

void Barriers::count_votes(Cta& cta, std::uint32_t id) {
    const auto found = cta.ballots.find(id);
    if (found == cta.ballots.end()) return;
    const Cta::Ballot& ballot = found->second;
    const std::uint32_t result = ballot.vote == isa::Vote::count ? ballot.ayes
                                 : ballot.vote == isa::Vote::all ? ballot.ayes == ballot.voters
                                                                 : ballot.ayes != 0;
    for (const auto& [number, to] : ballot.to) {
        Warp& warp = scene_.warps[static_cast<std::size_t>(cta.first + number)];
        auto* values = reinterpret_cast<std::uint32_t*>(warp.registers.data(to));
        for (int lane = 0; lane < isa::lanes; ++lane)
            if ((warp.running >> lane & 1U) != 0) values[lane] = result;
    }
    cta.ballots.erase(found);
}

void Barriers::completed(Cta& cta, std::uint32_t id) {
    count_votes(cta, id);
    scene_.signal({Signal::Kind::met, scene_.rank(cta), id});
    if (watches()) clocks_.clear(cta.meetings[id]);
}

// --- of the cluster ------------------------------------------------------------------------------------

void Barriers::arrives_at_cluster() {
    scene_.signal({Signal::Kind::cluster_arrival, 0, 0, cluster().arrived_in(scene_.current)});
    if (!watches()) return;
    if (meeting_ < 0) {
        meeting_ = clocks_.add_place();
        met_ = clocks_.add_place();
    }
    if (isa::arrival_order(*scene_.code.ops[scene_.pc].step).release)
        clocks_.release(scene_.current, meeting_, scene_.whole_warp());
    else
        mbarriers_.release_announced(meeting_);
}

void Barriers::cluster_completed() {
    if (watches()) clocks_.drain(meeting_, met_);
    scene_.wake_all(nullptr, Warp::Wait::cluster);
}

void Barriers::passes_cluster(std::uint32_t phase) {
    scene_.signal({Signal::Kind::cluster_passed, 0, 0, phase});
    if (watches()) clocks_.acquire(scene_.current, met_, scene_.whole_warp());
}

}  // namespace wgrun::sim
