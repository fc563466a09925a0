// What CTAs of a cluster share: addresses, a barrier, their end; and the register file of each.
#include "sim/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isa/order.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::sim {

using isa::lanes;

// An address of a CTA that is not there does no harm until it is used.
std::uint32_t Cluster::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

// The CTA that an address of the cluster's window lies in; the address becomes that of the CTA's own window.
// Null, and reported, when there is none. `owes`: the access is over when the warp knows it to be.
Cta* Cluster::peer(std::uint64_t& address, int lane, bool owes) {
    const std::uint64_t rank = isa::window_of(address);
    if (rank == 0) return cta_;
    if (rank > ctas_.size()) {
        report_.shared_out_of_bounds(false, 1, address);
        return nullptr;
    }
    Cta& cta = ctas_[rank - 1];
    address &= isa::peer_window;
    if (&cta == cta_) return cta_;
    if (cta.running == 0)
        report_.fault(rules::peer_has_ended(report_.who(), rank - 1, true, report_.end()));
    else if (owes && launch_.detect_races)
        cta.owe(Epoch(clocks_.now(current_), pc_, current_, lane));
    return &cta;
}

// --- barrier.cluster -----------------------------------------------------------------------------------

void Cluster::cluster_arrive() {
    std::uint32_t& arrived = meeting_.arrived[static_cast<std::size_t>(current_)];
    if (arrived != 0) return report_.fault(rules::cluster_arrives_again(report_.warp(), report_.where(pc_)));
    arrived = meeting_.phase;
    signal({Signal::Kind::cluster_arrival, 0, 0, arrived});
    waits_.meets(current_);
    fruitless_ = 0;
    if (launch_.detect_races) {
        if (meeting_.arriving < 0) {
            meeting_.arriving = clocks_.add_place();
            meeting_.complete = clocks_.add_place();
        }
        if (isa::arrival_order(*code_.ops[pc_].step).release)
            clocks_.release(current_, meeting_.arriving, {warp().all, warp().all});
        else
            release_announced(meeting_.arriving);
    }
    complete_meeting();
}

// A relaxed arrival carries the mbarriers that a fence has announced, and nothing else.
void Cluster::release_announced(int place) {
    for (Cta& cta : ctas_)
        for (const Mbarrier& mbarrier : cta.mbarriers.all())
            if (const int actor = mbarrier.actor();
                mbarrier.is_told_to_engine(clocks_.of(current_).seen[actor]))
                clocks_.learn(place, actor, mbarrier.announced());
}

void Cluster::complete_meeting() {
    bool any = false;
    for (std::size_t w = 0; w < warps_.size(); ++w) {
        const bool here = meeting_.arrived[w] == meeting_.phase;
        any |= here;
        if (!here && warps_[w].state != Warp::State::ended) return;
    }
    if (!any) return;
    ++meeting_.phase;
    if (launch_.detect_races) clocks_.drain(meeting_.arriving, meeting_.complete);
    wake(nullptr, Warp::Wait::cluster, [](const Warp&) { return true; });
}

void Cluster::cluster_wait() {
    std::uint32_t& arrived = meeting_.arrived[static_cast<std::size_t>(current_)];
    if (arrived == 0) {
        report_.fault(rules::cluster_not_arrived(report_.warp(), report_.where(pc_)));
        return;
    }
    if (arrived == meeting_.phase) {
        sleep(Warp::Wait::cluster);
        return;
    }
    signal({Signal::Kind::cluster_passed, 0, 0, arrived});
    arrived = 0;
    if (launch_.detect_races) clocks_.acquire(current_, meeting_.complete, {warp().all, warp().all});
}

// --- the end of a CTA ----------------------------------------------------------------------------------

// Whatever concerned the memory of the CTA must be known to its warps as past.
void Cluster::leave(Cta& cta) {
    for (const Epoch& access : cta.owed) {
        if (!access) continue;
        bool known = false;
        for (int w = cta.first; w < cta.first + warps_per_cta_; ++w)
            known |= cta.shadow.ordered(clocks_.of(w), access);
        if (known) continue;
        report_.at(access.pc(), access.thread(), Subject::copy);
        const bool in_group = std::ranges::any_of(
            groups_, [&](const BulkGroups& groups) { return groups.actor == access.actor(); });
        if (access.actor() < clocks_.warps())
            report_.fault(rules::peer_may_have_ended(report_.end()));
        else if (in_group)
            report_.fault(rules::copy_out_at_end(report_.where(access.pc()), report_.end()));
        else
            report_.unfinished_load(access);
    }
    copies_left_over(cta);
    for (const Mbarrier& mbarrier : cta.mbarriers.all()) {
        const std::int64_t missing = mbarrier.tx() - mbarrier.under_way();
        if (!mbarrier.live() || missing == 0) continue;
        report_.at(mbarrier.pc != no_pc ? mbarrier.pc : mbarrier.copy_pc, current_ * lanes);
        report_.fault(
            {rules::WG_MBAR_03,
             fmt::format("the CTA ends in phase {} of {}, which {} {} bytes", mbarrier.phase(),
                         report_.place(mbarrier.offset()), missing > 0 ? "still expects" : "has not expected",
                         std::abs(missing)),
             "expect the bytes of all copies of the phase, and wait for it before the kernel ends"});
    }
}

// --- registers -----------------------------------------------------------------------------------------

void Cluster::set_registers(int registers, bool increase) {
    Warp& warp = this->warp();
    if (increase ? registers < warp.held : registers > warp.held) {
        report_.fault(rules::resized_the_wrong_way(increase, registers, warp.held));
        return;
    }
    const int more = (registers - warp.held) * lanes;
    if (more > cta_->free_registers) {
        warp.wanted = registers;
        sleep(Warp::Wait::registers);
        return;
    }
    cta_->free_registers -= more;
    warp.held = registers;
    if (more < 0) wake(cta_, Warp::Wait::registers, [](const Warp&) { return true; });
}

}  // namespace wgrun::sim
