// Barriers of the CTA and of the cluster in a rehearsal, and the effect of a CTA's end on its peers:
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
    using Arrival = machine::NamedBarriers::Arrival;
    Cta& cta = *warp_->cta;
    switch (cta.barriers.arrive(id, local(*warp_), threads, wait, warp_->pc)) {
        case Arrival::illegal: return add(rules::barrier_out_of_range(id, threads), op_->step);
        case Arrival::too_large:
            return add(rules::barrier_too_large(id, threads, program_.threads()), op_->step);
        case Arrival::twice: return add(rules::barrier_twice(id, name(*warp_)), op_->step);
        case Arrival::counted_otherwise: {
            const std::uint32_t others = cta.barriers.expected(id);
            add(rules::barrier_counted_otherwise(id, threads, others), op_->step,
                {{skeleton_.ops[cta.barriers.first(id)].step->where, rules::barrier_counted_here(others)}});
            break;
        }
        case Arrival::counted: break;
    }
    waits_.meets(warp_->number);
    fruitless_ = 0;
    release(cta.meetings[id]);
    if (wait) {
        warp_->state = Warp::State::at_barrier;
        warp_->barrier = id;
    }
    complete_barrier(cta, id);
}

void Rehearsal::complete_barrier(Cta& cta, std::uint32_t id) {
    const std::optional<std::uint32_t> waiting = cta.barriers.complete(id);
    if (!waiting) return;
    for (std::uint32_t left = *waiting; left != 0; left &= left - 1) {
        Warp& warp = warps_[static_cast<std::size_t>(cta.first + std::countr_zero(left))];
        acquire(warp, cta.meetings[id]);
        warp.state = Warp::State::ready;
    }
    cta.meetings[id].clear();
}

// --- barrier.cluster -----------------------------------------------------------------------------------

void Rehearsal::cluster_arrive() {
    if (!cluster_barrier_.arrive(warp_->number))
        return add(rules::cluster_arrives_again(name(*warp_), op_->step->where), op_->step);
    waits_.meets(warp_->number);
    fruitless_ = 0;
    if (isa::arrival_order(*op_->step).release) {
        release(meeting_);
    } else {
        // A relaxed arrival publishes the mbarriers that a fence has announced, and nothing else.
        for (const Cta& cta : ctas_)
            for (const auto& mbarrier : cta.mbarriers)
                if (mbarrier->is_told_to_engine(warp_->known.of(mbarrier->actor())))
                    meeting_.learn(mbarrier->actor(), mbarrier->announced());
    }
    complete_meeting();
}

void Rehearsal::complete_meeting() {
    if (!cluster_barrier_.turn()) return;
    met_.learn(meeting_);
    meeting_.clear();
    wake(Warp::Wait::cluster, [](const Warp&) { return true; });
}

void Rehearsal::cluster_wait() {
    using Wait = machine::ClusterBarrier::Wait;
    switch (cluster_barrier_.wait(warp_->number)) {
        case Wait::not_arrived:
            return add(rules::cluster_not_arrived(name(*warp_), op_->step->where), op_->step);
        case Wait::blocked: return sleep(Warp::Wait::cluster);
        case Wait::passes: break;
    }
    acquire(*warp_, met_);
    for (const auto& mbarrier : warp_->cta->mbarriers)
        if (mbarrier->init_warp == warp_->number)
            mbarrier->known_to_warp |= mbarrier->is_told_to_engine(met_.of(mbarrier->actor()));
}

// --- the memory of peers -------------------------------------------------------------------------------

/// The address of a CTA that does not exist is harmless until it is used.
std::uint32_t Rehearsal::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

/// Returns the CTA that a cluster address lies in, and turns the address into one of the CTA's own window. If
/// there is none, reports that and returns null.
Rehearsal::Cta* Rehearsal::peer(std::uint64_t& address) {
    using Whose = machine::SharedPlace::Whose;
    const auto [whose, rank, there] =
        machine::locate(address, static_cast<std::uint32_t>(warp_->cta->rank), ctas_.size());
    if (whose == Whose::nobodys) {
        add(rules::outside_cluster(name(*warp_), rank, ctas_.size()), op_->step);
        return nullptr;
    }
    Cta& cta = ctas_[rank];
    address = there;
    if (whose == Whose::own) return &cta;
    if (cta.ended) {
        add(rules::peer_has_ended(name(*warp_), rank, false, end_of(program_)), op_->step);
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
    for (isa::Mask left = active_ & address.known; left != 0; left &= left - 1) {
        std::uint64_t at = address[static_cast<std::size_t>(std::countr_zero(left))];
        peer(at);
    }
}

/// The last warp of a CTA ends. Its warps must know that every access to its memory is complete.
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
