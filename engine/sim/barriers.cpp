#include "sim/barriers.hpp"

#include <fmt/format.h>

#include <algorithm>
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

namespace {

std::string name_of(Warp::Meeting at) {
    using Kind = Warp::Meeting::Kind;
    switch (at.kind) {
        case Kind::wait: return fmt::format("barrier {}", at.barrier);
        case Kind::arrival: return fmt::format("an arrival at barrier {}", at.barrier);
        case Kind::cluster_wait: return "a wait for the barrier of the cluster";
        case Kind::cluster_arrival: break;
    }
    return "an arrival at the barrier of the cluster";
}

}  // namespace

Barriers::Come Barriers::come(Warp::Meeting at) {
    Warp& warp = scene_.warp();
    Warp::Part& part = warp.part;
    const isa::Mask active = scene_.active;
    if (part.counted != 0 && (active & ~part.counted) == 0) {
        part.counted &= ~active;
        return Come::counted;
    }
    if (part.come != 0 && part.at != at) {
        report_.fault(rules::parts_at_two_barriers(report_.warp(), name_of(part.at), name_of(at)));
        part.counted = std::exchange(part.come, 0);
        return Come::counted;
    }
    part.come |= active;
    part.at = at;
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

void Barriers::come_again() {
    Warp::Part& part = scene_.warp().part;
    part.come = std::exchange(part.counted, 0) | scene_.active;
}

void Barriers::votes(isa::Mask votes, isa::Reg to) {
    Warp::Part& part = scene_.warp().part;
    part.voters |= scene_.active;
    part.ayes |= votes & scene_.active;
    const auto found = std::ranges::find(part.to, to, &std::pair<isa::Reg, isa::Mask>::first);
    if (found == part.to.end())
        part.to.emplace_back(to, scene_.active);
    else
        found->second |= scene_.active;
}

void Barriers::wait_for_votes(std::uint32_t id, std::uint32_t threads, isa::Vote vote) {
    Cta& cta = own();
    Warp::Part& part = scene_.warp().part;
    Cta::Ballot& ballot = cta.ballots[id];
    const Cta::Ballot before = ballot;
    ballot.vote = vote;
    ballot.ayes += static_cast<std::uint32_t>(std::popcount(std::exchange(part.ayes, 0)));
    ballot.voters += static_cast<std::uint32_t>(std::popcount(std::exchange(part.voters, 0)));
    for (const auto& [reg, lanes] : std::exchange(part.to, {}))
        ballot.to.push_back({scene_.local(), reg, lanes});
    if (!meet(id, threads, true)) cta.ballots[id] = before;
}

void Barriers::count_votes(Cta& cta, std::uint32_t id) {
    const auto found = cta.ballots.find(id);
    if (found == cta.ballots.end()) return;
    const Cta::Ballot& ballot = found->second;
    const std::uint32_t result = ballot.vote == isa::Vote::count ? ballot.ayes
                                 : ballot.vote == isa::Vote::all ? ballot.ayes == ballot.voters
                                                                 : ballot.ayes != 0;
    for (const auto& [number, to, lanes] : ballot.to) {
        Warp& warp = scene_.warps[static_cast<std::size_t>(cta.first + number)];
        auto* values = reinterpret_cast<std::uint32_t*>(warp.registers.data(to));
        for (int lane = 0; lane < isa::lanes; ++lane)
            if ((lanes >> lane & 1U) != 0) values[lane] = result;
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
        arrives_relaxed();
}

/// It passes on the inits that a fence has announced, and of memory what one has released.
void Barriers::arrives_relaxed() {
    mbarriers_.release_announced(meeting_);
    scene_.release_acquire.arrive_relaxed(scene_.current, meeting_, scene_.ctas.size() > 1);
}

void Barriers::cluster_completed() {
    scene_.cluster_has_met = true;
    if (watches()) clocks_.drain(meeting_, met_);
    scene_.wake_all(nullptr, Warp::Wait::cluster);
}

void Barriers::passes_cluster(std::uint32_t phase) {
    scene_.signal({Signal::Kind::cluster_passed, 0, 0, phase});
    if (watches()) clocks_.acquire(scene_.current, met_, scene_.whole_warp());
}

}  // namespace wgrun::sim
