// Barriers of the CTA and of the cluster in a simulation: what threads learn there, and who sleeps.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "machine/barrier_unit.hpp"
#include "sim/mbarriers.hpp"

namespace wgrun::sim {

class Barriers : public machine::BarrierUnit<Barriers, Cta> {
  public:
    Barriers(Scene& scene, Mbarriers& mbarriers)
        : scene_(scene), report_(scene.report), clocks_(scene.clocks), mbarriers_(mbarriers) {}

    void reset() {
        BarrierUnit::reset(scene_.warps.size());
        meeting_ = met_ = -1;
    }

    /// bar.red: the active lanes vote, and `to` will hold what the votes of all threads that wait combine to.
    void votes(isa::Mask votes, isa::Reg to);
    /// The warp, whose lanes have voted, waits.
    void wait_for_votes(std::uint32_t id, std::uint32_t threads, isa::Vote vote);

    /// What becomes of lanes at a barrier that need not be aligned. It counts a warp once all its lanes that
    /// have not ended have come, at whatever place (PTX ISA 9.7.13.1, 9.7.13.3, docs/silicon.md).
    enum class Come : std::uint8_t {
        last,    ///< the warp arrives now
        early,   ///< other lanes of the warp run first
        counted  ///< the warp has arrived: these lanes go on
    };
    Come come(Warp::Meeting at);
    /// The warp, whose last lanes came just now, sleeps and will come again.
    void come_again();

    // As machine::BarrierDriver asks.
    int warp() const { return scene_.current; }
    int warp_in_cta() const { return scene_.local(); }
    std::uint32_t pc() const { return scene_.pc; }
    Cta& own() { return *scene_.cta; }
    int threads() const { return scene_.program.threads(); }
    machine::Waits& waits() { return scene_.waits; }
    void progress() { scene_.fruitless = 0; }
    std::string warp_name() const { return report_.warp(); }
    Where here() const { return report_.where(scene_.pc); }
    void fault(rules::RuleMessage message, std::uint32_t other = no_pc, std::string_view note = {}) {
        report_.fault(std::move(message), other, std::string(note));
    }
    void arrives(Cta& cta, std::uint32_t id, bool waits);
    void waits_at(std::uint32_t id);
    void continues(Cta& cta, int warp, std::uint32_t id);
    void completed(Cta& cta, std::uint32_t id);
    void arrives_at_cluster();
    void cluster_completed();
    void passes_cluster(std::uint32_t phase);
    void sleeps_at_cluster() { scene_.sleep(Warp::Wait::cluster); }

  private:
    void count_votes(Cta& cta, std::uint32_t id);
    void arrives_relaxed();
    bool watches() const { return scene_.launch.detect_races; }

    Scene& scene_;
    Report& report_;
    Clocks& clocks_;
    Mbarriers& mbarriers_;
    /// Places in Clocks: of the arrivals in the current phase of the cluster's barrier, and of those before.
    int meeting_ = -1, met_ = -1;
};

}  // namespace wgrun::sim
