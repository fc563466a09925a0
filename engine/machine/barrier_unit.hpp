// The instructions on barriers of the CTA (bar.sync, bar.arrive; PTX ISA 9.7.13.1) and of the cluster
// (barrier.cluster; 9.7.13.3): what is wrong with an arrival or a wait, who waits, and who continues.
//
// The abstract execution and the simulator derive from it. They know what warps learn from each other, who
// sleeps and who wakes up, and how a fault is reported.
#pragma once

#include <bit>
#include <concepts>
#include <string>
#include <string_view>

#include "machine/barriers.hpp"
#include "machine/driver.hpp"
#include "rules/barrier_words.hpp"

namespace wgrun::machine {

template <class Driver, class Cta>
concept BarrierDriver = StepDriver<Driver, Cta> &&
    requires(Driver& driver, Cta& cta, std::uint32_t id, int warp, bool waits, std::uint32_t phase) {
    { cta.barriers } -> std::same_as<NamedBarriers&>;
    { cta.first } -> std::convertible_to<int>;  // its first warp in the cluster
    { driver.threads() } -> std::same_as<int>;  // of a CTA
    { driver.warp_name() } -> std::same_as<std::string>;
    { driver.here() } -> std::same_as<Where>;

    driver.arrives(cta, id, waits);   // what the warp knows is left at the barrier
    driver.waits_at(id);              // the warp waits, behind its step
    driver.continues(cta, warp, id);  // a warp that waited knows what was left there
    driver.completed(cta, id);        // nothing is left there any more

    driver.arrives_at_cluster();
    driver.cluster_completed();  // wakes the warps that sleep
    driver.passes_cluster(phase);
    driver.sleeps_at_cluster();
};

/// Driver derives from this (CRTP), and is a BarrierDriver.
template <class Driver, class Cta>
class BarrierUnit {
  public:
    BarrierUnit() { static_assert(BarrierDriver<Driver, Cta>); }

    /// All warps of the cluster are there, and none has arrived anywhere.
    void reset(std::size_t warps) { cluster_.reset(warps); }

    /// Returns whether the arrival counts.
    bool meet(std::uint32_t id, std::uint32_t threads, bool waits) {
        using Arrival = NamedBarriers::Arrival;
        Cta& cta = self().own();
        switch (cta.barriers.arrive(id, self().warp_in_cta(), threads, waits, self().pc())) {
            case Arrival::illegal: self().fault(rules::barrier_out_of_range(id, threads)); return false;
            case Arrival::too_large:
                self().fault(rules::barrier_too_large(id, threads, self().threads()));
                return false;
            case Arrival::counted_otherwise: {
                const std::uint32_t others = cta.barriers.expected(id);
                self().fault(rules::barrier_counted_otherwise(id, threads, others), cta.barriers.first(id),
                             rules::barrier_counted_here(others));
                break;
            }
            case Arrival::counted: break;
        }
        self().waits().meets(self().warp());
        self().progress();
        self().arrives(cta, id, waits);
        if (waits) self().waits_at(id);
        complete(cta, id);
        return true;
    }

    void cluster_arrive() {
        if (!cluster_.arrive(self().warp()))
            return self().fault(rules::cluster_arrives_again(self().warp_name(), self().here()));
        self().waits().meets(self().warp());
        self().progress();
        self().arrives_at_cluster();
        turn();
    }

    void cluster_wait() {
        using Wait = ClusterBarrier::Wait;
        const std::uint32_t phase = cluster_.arrived_in(self().warp());
        switch (cluster_.wait(self().warp())) {
            case Wait::not_arrived:
                return self().fault(rules::cluster_not_arrived(self().warp_name(), self().here()));
            case Wait::blocked: return self().sleeps_at_cluster();
            case Wait::passes: return self().passes_cluster(phase);
        }
    }

    /// The current warp has ended: barriers of all threads no longer wait for it.
    void end() {
        Cta& cta = self().own();
        cta.barriers.end(self().warp_in_cta());
        for (std::uint32_t id = 0; id < cta.barriers.count(); ++id) complete(cta, id);
    }
    void end_in_cluster() {
        cluster_.end(self().warp());
        turn();
    }

    const ClusterBarrier& cluster() const { return cluster_; }
    ClusterBarrier& cluster() { return cluster_; }

  private:
    Driver& self() { return static_cast<Driver&>(*this); }

    void complete(Cta& cta, std::uint32_t id) {
        const std::optional<std::uint32_t> waiting = cta.barriers.complete(id);
        if (!waiting) return;
        for (std::uint32_t left = *waiting; left != 0; left &= left - 1)
            self().continues(cta, cta.first + std::countr_zero(left), id);
        self().completed(cta, id);
    }
    void turn() {
        if (cluster_.turn()) self().cluster_completed();
    }

    ClusterBarrier cluster_;
};

}  // namespace wgrun::machine
