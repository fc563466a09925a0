// Barriers of the CTA and of the cluster in an abstract execution: WG-SYNC-02, -04, -05.
#pragma once

#include <array>
#include <vector>

#include "check/abstract/mbarriers.hpp"
#include "machine/barrier_unit.hpp"

namespace wgrun::check::abstract {

struct BarriersOfCta {
    int first = 0;  ///< the first warp
    machine::NamedBarriers barriers;
    std::array<Knowledge, sm_90a.barriers> meetings{};  ///< by barrier: what the arrived warps knew
    /// Of a proof, by barrier: the clocks of the warps that it let go on when it was complete the last time.
    std::array<Knowledge, sm_90a.barriers> passed{}, fresh{};
};

class Barriers : public machine::BarrierUnit<Barriers, BarriersOfCta> {
  public:
    Barriers(ExecutionState& execution, Faults& report, Mbarriers& mbarriers);

    auto state() { return std::tie(ctas_, meeting_, met_, cluster()); }
    void encode(Encoder& to, int actors);

    const machine::NamedBarriers& of(int cta) const { return ctas_[static_cast<std::size_t>(cta)].barriers; }

    // As machine::BarrierDriver asks.
    using Cta = BarriersOfCta;
    int warp() const { return execution_.warp->number; }
    int warp_in_cta() const { return execution_.local(*execution_.warp); }
    std::uint32_t pc() const { return execution_.warp->pc; }
    Cta& own() { return ctas_[static_cast<std::size_t>(execution_.warp->cta)]; }
    int threads() const { return execution_.program.threads(); }
    machine::Waits& waits() { return execution_.waits; }
    void progress() { execution_.progress(); }
    std::string warp_name() const { return execution_.name(); }
    Where here() const { return execution_.op->where; }
    void fault(rules::RuleMessage message, std::uint32_t other = machine::no_pc, std::string_view note = {});
    void arrives(Cta& cta, std::uint32_t id, bool);
    void waits_at(std::uint32_t id);
    void continues(Cta& cta, int warp, std::uint32_t id);
    void completed(Cta& cta, std::uint32_t id) {
        cta.meetings[id].clear();
        cta.passed[id] = std::exchange(cta.fresh[id], {});
    }
    void arrives_at_cluster();
    void cluster_completed();
    void passes_cluster(std::uint32_t phase);
    void sleeps_at_cluster() { execution_.sleep(Warp::Wait::cluster); }

  private:
    ExecutionState& execution_;
    Faults& report_;
    Mbarriers& mbarriers_;
    std::vector<Cta> ctas_;
    Knowledge meeting_, met_;  ///< at the cluster barrier: of warps that arrive; of those that have
};

}  // namespace wgrun::check::abstract
