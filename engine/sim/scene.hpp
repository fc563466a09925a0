// What the parts of a simulated cluster share: its warps, CTAs and memories, the step that is executed, what
// warps know (Clocks), and how they sleep and wake up.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "memory/pages.hpp"
#include "sim/cta.hpp"
#include "sim/dependents.hpp"
#include "sim/exchange.hpp"
#include "sim/global_shadow.hpp"
#include "sim/observer.hpp"
#include "sim/release_acquire.hpp"
#include "sim/report.hpp"
#include "sim/turns.hpp"

namespace wgrun::sim {

class Cluster;

/// Clusters that have no room, where none of those that have goes on.
struct Crowd {
    std::uint64_t next = 0;  ///< the first of them in the grid; 0: all have begun
    std::uint64_t room = 0;  ///< for so many clusters
};

/// Warps and threads are numbered through all CTAs of the cluster. One thread uses a scene at a time.
class Scene final : private GlobalShadow::Sink {
  public:
    /// cluster: whom an observer sees.
    Scene(Cluster& cluster, const Program& program, const Code& code, const SimulatedLaunch& launch,
          Turns& turns, Exchange& exchange);

    /// Begins cluster number `index` of the launch.
    void reset(std::uint64_t index);

    const Program& program;
    const Code& code;
    const SimulatedLaunch& launch;
    Turns& turns;
    Exchange& exchange;
    const int warps_per_cta;
    const int entry_registers;  ///< a thread
    GlobalMemory global;
    std::vector<ParameterMemory> params;  ///< by device
    machine::Waits waits;
    Report report;
    GlobalShadow global_shadow;
    Clocks clocks;
    ReleaseAcquire release_acquire;
    Dependents dependents;
    std::vector<Warp> warps;
    std::vector<Cta> ctas;         ///< by rank
    std::uint64_t index = 0;       ///< of the cluster, among those of all devices
    std::uint32_t device = 0;      ///< that it is on
    Dim3 position;                 ///< of the cluster in the grid of clusters
    int fruitless = 0;             ///< rounds in which sleeping warps woke up and nothing happened
    bool pollers = false;          ///< whether warps may be asleep until memory changes
    bool wrote = false;            ///< to global memory, which other clusters do not know yet
    bool stands_back = false;      ///< a warp does, for other clusters too
    bool cluster_has_met = false;  ///< at its barrier: all its CTAs have begun

    // The current step.
    int current = 0;  ///< warp
    Cta* cta = nullptr;
    isa::Mask active = 0;
    std::uint32_t pc = 0;
    Crowd crowd;
    bool put_off = false;  ///< it has not been executed: other warps or lanes run first

    void enter(int warp) {
        current = warp;
        cta = &ctas[static_cast<std::size_t>(warp / warps_per_cta)];
    }
    Warp& warp() { return warps[static_cast<std::size_t>(current)]; }
    int local() const { return current - cta->first; }  ///< number of the warp in its CTA
    int rank(const Cta& of) const { return static_cast<int>(&of - ctas.data()); }
    Cta& cta_of(int warp) { return ctas[static_cast<std::size_t>(warp / warps_per_cta)]; }
    const ParameterMemory& parameters() const { return params[device]; }
    Lanes active_lanes() { return {active, warp().all}; }
    Lanes lanes(isa::Mask some) { return {some, warp().all}; }
    Lanes whole_warp() { return {warp().all, warp().all}; }
    int thread(int lane) const { return current * isa::lanes + lane; }

    Actor actor(int lane) const { return {clocks.of(current, lane), current, pc, clocks.now(current)}; }
    /// The actors by lane: for the sets of those that know more than the others, and for the others.
    class Actors {
      public:
        explicit Actors(const Scene& scene) {
            isa::Mask ahead = 0;
            scene.clocks.for_each_front(scene.current, [&](isa::Mask lanes) {
                const Actor actor = scene.actor(std::countr_zero(lanes));
                if (ahead == 0)
                    first_ = actor;
                else
                    more_.emplace_back(lanes, actor);
                if (ahead == 0) lanes_ = lanes;
                ahead |= lanes;
            });
            others_ = scene.actor(ahead == UINT32_MAX ? 0 : std::countr_one(ahead));
        }
        const Actor& of(int lane) const {
            if ((lanes_ >> lane & 1U) != 0) return first_;
            for (const auto& [lanes, actor] : more_)
                if ((lanes >> lane & 1U) != 0) return actor;
            return others_;
        }

      private:
        isa::Mask lanes_ = 0;
        Actor first_, others_;
        std::vector<std::pair<isa::Mask, Actor>> more_;
    };
    Actors actors() const { return Actors(*this); }

    /// Returns the CTA that an address of the cluster's window refers to, and turns the address into one of
    /// the CTA's own window. Null, with a report, if there is none. owes: the access is over when the warp
    /// knows that it is.
    Cta* peer(std::uint64_t& address, int lane, bool owes);
    /// Reports an access to a CTA that the lane does not know to have begun, unless the access races anyway.
    void expect_begun(const Cta& other, int lane);

    /// Whether memory that no tensor has is synthetic (Synthetic::memory).
    bool makes_up_memory() const {
        return launch.synthetic != nullptr && launch.synthetic->memory.has_value();
    }
    /// Returns synthetic memory of `bytes` bytes, 128 at most, whose contents last until the next call; null
    /// where none is synthetic.
    std::byte* nowhere(int bytes);

    /// Returns a draw below a limit. The seed determines them all.
    std::uint32_t draw(std::uint32_t below);

    void sleep(Warp::Wait wait) {
        warp().state = Warp::State::asleep;
        warp().wait = wait;
    }
    /// Other warps run as far as they can before this one does. widely: warps of other clusters too.
    void stand_back(bool widely) {
        warp().state = Warp::State::stands_back;
        stands_back |= widely && code.hands_over;
    }
    /// Wakes the sleeping warps of a CTA, or of all CTAs (null), that wait for something of this kind.
    template <class Which>
    void wake(const Cta* of, Warp::Wait wait, Which which) {
        fruitless = 0;
        const std::size_t first = of == nullptr ? 0 : static_cast<std::size_t>(of->first);
        const std::size_t end =
            of == nullptr ? warps.size() : first + static_cast<std::size_t>(warps_per_cta);
        for (std::size_t w = first; w < end; ++w) {
            Warp& warp = warps[w];
            if (warp.state == Warp::State::asleep && warp.wait == wait && which(warp))
                warp.state = Warp::State::ready;
        }
    }
    void wake_all(const Cta* of, Warp::Wait wait) {
        wake(of, wait, [](const Warp&) { return true; });
    }

    /// The warp has changed memory: what it polls, and what others poll, may have changed.
    void acted() {
        warp().polled = {};
        if (pollers) wake_pollers();
    }
    void wake_pollers() {
        pollers = false;
        wake_all(nullptr, Warp::Wait::memory);
    }
    /// Something has happened in memory that no warp did just now.
    void landed() {
        fruitless = 0;
        if (pollers) wake_pollers();
    }
    /// Tells other clusters that they may read global memory again.
    void tell() {
        if (std::exchange(wrote, false)) turns.changed();
    }

    /// Passes a signal to the observer, if there is one.
    void signal(const Signal& signal) {
        if (launch.observer != nullptr) [[unlikely]]
            launch.observer->signal(View(cluster_), current, signal);
    }
    /// Tells the observer that the bytes of a copy have moved, which a thread issued at that operation.
    void signal_landed(std::uint32_t at, int thread) {
        if (launch.observer != nullptr) launch.observer->landed(View(cluster_), at, thread);
    }

  private:
    void global_race(const GlobalRace& race) override;
    void global_unfenced(const GlobalRace& race) override;
    void global_stale(const GlobalRace& race) override;
    void global_discarded(std::uint64_t address, Epoch by) override;
    bool weak(std::uint32_t step) const override { return !code.ops[step].order.strong; }
    bool fixed(std::uint32_t step) const override { return code.ops[step].fixed; }

    const memory::Pages register_data_;  ///< of all warps: most registers are never accessed
    Cluster& cluster_;
    std::array<std::uint32_t, 32> nowhere_{};
    std::uint64_t random_ = 0;  ///< state of the draws
};

}  // namespace wgrun::sim
