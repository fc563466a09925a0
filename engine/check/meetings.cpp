// Barriers of the CTA and of the cluster in a rehearsal, and what the end of a CTA is to its peers:
// WG-SYNC-02, -04, -05.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/rehearsal.hpp"
#include "isa/order.hpp"
#include "program/end.hpp"
#include "rules/barrier_words.hpp"

namespace wgrun::check {

using isa::lanes;

// --- bar.sync and bar.arrive ---------------------------------------------------------------------------

void Rehearsal::meet(std::uint32_t id, std::uint32_t threads, bool wait) {
    if (!is_clear(id) || !is_clear(threads)) return refuse();
    Cta& cta = *warp_->cta;
    if (id >= cta.barriers.size() || threads % lanes != 0)
        return add(rules::barrier_out_of_range(id, threads), op_->step);
    Barrier& barrier = cta.barriers[id];
    const std::uint32_t self = 1U << local(*warp_);
    if (threads == 0) threads = static_cast<std::uint32_t>(warps_per_cta_ * lanes);
    if (barrier.arrived == 0) {
        barrier.expected = threads;
        barrier.first = op_->step;
    } else if (barrier.expected != threads) {
        return add(rules::barrier_counted_otherwise(id, threads, barrier.expected), op_->step,
                   {{barrier.first->where, fmt::format("for {} threads here", barrier.expected)}});
    }
    if (static_cast<int>(threads) > warps_per_cta_ * lanes)
        return add(rules::barrier_too_large(id, threads, program_.threads()), op_->step);
    if ((barrier.arrived & self) != 0) return add(rules::barrier_twice(id, name(*warp_)), op_->step);
    barrier.arrived |= self;
    waits_.meets(warp_->number);
    fruitless_ = 0;
    release(barrier.meeting);
    if (wait) {
        barrier.waiting |= self;
        warp_->state = Warp::State::at_barrier;
        warp_->barrier = id;
    }
    if (static_cast<std::uint32_t>(std::popcount(barrier.arrived) * lanes) < barrier.expected) return;
    for (std::uint32_t left = barrier.waiting; left != 0; left &= left - 1) {
        Warp& waiting = warps_[static_cast<std::size_t>(cta.first + std::countr_zero(left))];
        acquire(waiting, barrier.meeting);
        waiting.state = Warp::State::ready;
    }
    barrier.meeting.clear();
    barrier.arrived = barrier.waiting = 0;
}

// --- barrier.cluster -----------------------------------------------------------------------------------

void Rehearsal::cluster_arrive() {
    if (warp_->met != 0) return add(rules::cluster_arrives_again(name(*warp_), op_->step->where), op_->step);
    warp_->met = meeting_phase_;
    waits_.meets(warp_->number);
    fruitless_ = 0;
    if (isa::arrival_order(*op_->step).release) {
        release(meeting_);
    } else {
        // A relaxed arrival carries the mbarriers that a fence has announced, and nothing else.
        for (const Cta& cta : ctas_)
            for (const auto& mbarrier : cta.mbarriers)
                if (mbarrier->is_told_to_engine(warp_->known.of(mbarrier->actor())))
                    meeting_.learn(mbarrier->actor(), mbarrier->announced());
    }
    complete_meeting();
}

void Rehearsal::complete_meeting() {
    bool any = false;
    for (const Warp& warp : warps_) {
        const bool here = warp.met == meeting_phase_;
        any |= here;
        if (!here && warp.state != Warp::State::ended) return;
    }
    if (!any) return;
    ++meeting_phase_;
    met_.learn(meeting_);
    meeting_.clear();
    wake(Warp::Wait::cluster, [](const Warp&) { return true; });
}

void Rehearsal::cluster_wait() {
    if (warp_->met == 0) return add(rules::cluster_not_arrived(name(*warp_), op_->step->where), op_->step);
    if (warp_->met == meeting_phase_) return sleep(Warp::Wait::cluster);
    warp_->met = 0;
    acquire(*warp_, met_);
    for (const auto& mbarrier : warp_->cta->mbarriers)
        if (mbarrier->init_warp == warp_->number)
            mbarrier->known_to_warp |= mbarrier->is_told_to_engine(met_.of(mbarrier->actor()));
}

// --- the memory of peers -------------------------------------------------------------------------------

/// An address of a CTA that is not there does no harm until it is used.
std::uint32_t Rehearsal::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

/// The CTA that an address of the cluster's window lies in; the address becomes that of the CTA's own window.
/// Null, and told, when there is none.
Rehearsal::Cta* Rehearsal::peer(std::uint64_t& address) {
    const std::uint64_t rank = isa::window_of(address);
    if (rank == 0) return warp_->cta;
    if (rank > ctas_.size()) {
        add(rules::outside_cluster(name(*warp_), rank - 1, ctas_.size()), op_->step);
        return nullptr;
    }
    Cta& cta = ctas_[rank - 1];
    address &= isa::peer_window;
    if (&cta == warp_->cta) return &cta;
    if (cta.ended) {
        add(rules::peer_has_ended(name(*warp_), rank - 1, false, end_of(program_)), op_->step);
        return &cta;
    }
    for (Visit& visit : cta.visits) {
        if (visit.warp != warp_->number) continue;
        visit = {warp_->number, warp_->now, op_->step};
        return &cta;
    }
    cta.visits.push_back({warp_->number, warp_->now, op_->step});
    return &cta;
}

void Rehearsal::visit(isa::Space space, const isa::Addresses& address) {
    if (space != isa::Space::shared_cluster) return;
    for (isa::Mask left = active_; left != 0; left &= left - 1) {
        std::uint64_t at = address[static_cast<std::size_t>(std::countr_zero(left))];
        if (!is_clear(static_cast<std::int64_t>(at))) return;
        peer(at);
    }
}

/// The last warp of a CTA ends. Whatever concerned its memory must be known to its warps as past.
void Rehearsal::close(Cta& cta) {
    cta.ended = true;
    if (anybody_left_) return;
    unfinished(cta);
    for (const Visit& visit : cta.visits) {
        bool known = false;
        for (int w = cta.first; w < cta.first + warps_per_cta_; ++w)
            known |= warps_[static_cast<std::size_t>(w)].known.of(visit.warp) >= visit.clock;
        if (!known) add(rules::peer_may_have_ended(end_of(program_)), visit.step);
    }
}

}  // namespace wgrun::check
