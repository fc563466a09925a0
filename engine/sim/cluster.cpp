// What the CTAs of a cluster share: addresses, a barrier and their end; and the register file of each CTA.
#include "sim/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "isa/order.hpp"
#include "rules/barrier_words.hpp"
#include "rules/copy_words.hpp"

namespace wgrun::sim {

using isa::lanes;

// The address of a CTA that does not exist does no harm until it is used.
std::uint32_t Cluster::map_shared(std::uint32_t address, std::uint32_t rank) {
    return isa::peer_address(address, rank);
}

// Returns the CTA that an address of the cluster's window refers to, and turns the address into one of the
// CTA's own window. Null, with a report, if there is none. owes: the access is over when the warp knows that
// it is.
Cta* Cluster::peer(std::uint64_t& address, int lane, bool owes) {
    using Whose = machine::SharedPlace::Whose;
    const auto [whose, rank, there] =
        machine::locate(address, static_cast<std::uint32_t>(this->rank(*cta_)), ctas_.size());
    if (whose == Whose::nobodys) {
        report_.shared_out_of_bounds(false, 1, address);
        return nullptr;
    }
    Cta& cta = ctas_[rank];
    address = there;
    if (whose == Whose::own) return cta_;
    if (cta.running == 0)
        report_.fault(rules::peer_has_ended(report_.who(), rank, true, report_.end()));
    else if (owes && launch_.detect_races)
        cta.owe(Epoch(clocks_.now(current_), pc_, current_, lane));
    return &cta;
}

// --- barrier.cluster -----------------------------------------------------------------------------------

void Cluster::cluster_arrive() {
    if (!cluster_barrier_.arrive(current_))
        return report_.fault(rules::cluster_arrives_again(report_.warp(), report_.where(pc_)));
    signal({Signal::Kind::cluster_arrival, 0, 0, cluster_barrier_.arrived_in(current_)});
    waits_.meets(current_);
    fruitless_ = 0;
    if (launch_.detect_races) {
        if (meeting_ < 0) {
            meeting_ = clocks_.add_place();
            met_ = clocks_.add_place();
        }
        if (isa::arrival_order(*code_.ops[pc_].step).release)
            clocks_.release(current_, meeting_, {warp().all, warp().all});
        else
            release_announced(meeting_);
    }
    complete_meeting();
}

// A relaxed arrival releases the mbarriers that a fence has announced, and nothing else.
void Cluster::release_announced(int place) {
    for (Cta& cta : ctas_)
        for (const Mbarrier& mbarrier : cta.mbarriers.all())
            if (const int actor = mbarrier.actor();
                mbarrier.is_told_to_engine(clocks_.of(current_).seen[actor]))
                clocks_.learn(place, actor, mbarrier.announced());
}

void Cluster::complete_meeting() {
    if (!cluster_barrier_.turn()) return;
    if (launch_.detect_races) clocks_.drain(meeting_, met_);
    wake(nullptr, Warp::Wait::cluster, [](const Warp&) { return true; });
}

void Cluster::cluster_wait() {
    using Wait = machine::ClusterBarrier::Wait;
    const std::uint32_t phase = cluster_barrier_.arrived_in(current_);
    switch (cluster_barrier_.wait(current_)) {
        case Wait::not_arrived:
            return report_.fault(rules::cluster_not_arrived(report_.warp(), report_.where(pc_)));
        case Wait::blocked: return sleep(Warp::Wait::cluster);
        case Wait::passes: break;
    }
    signal({Signal::Kind::cluster_passed, 0, 0, phase});
    if (launch_.detect_races) clocks_.acquire(current_, met_, {warp().all, warp().all});
}

// --- the end of a CTA ----------------------------------------------------------------------------------

// Everything that accessed the memory of the CTA must be known to its warps as past.
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
    using Resize = machine::RegisterPool::Resize;
    machine::RegisterPool& pool = cta_->registers;
    switch (pool.resize(local(), registers, increase)) {
        case Resize::wrong_way:
            return report_.fault(rules::resized_the_wrong_way(increase, registers, pool.held(local())));
        case Resize::blocked: return sleep(Warp::Wait::registers);
        case Resize::given_back: return wake(cta_, Warp::Wait::registers, [](const Warp&) { return true; });
        case Resize::taken: return;
    }
}

}  // namespace wgrun::sim
