// Which phases of mbarriers the warps of a cluster have waited for, and which of their waits may be to blame
// for what comes too early (WG-MBAR-06).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "machine/mbarrier.hpp"

namespace wgrun::machine {

/// A wait for an mbarrier that ended by a phase that its warp already knew to be complete.
struct LetThrough {
    int actor = -1;                      ///< of the mbarrier
    std::uint32_t offset = 0;            ///< bytes, in shared memory
    std::uint32_t clock = 0, phase = 0;  ///< its next(), and its current phase
    std::uint32_t pc = 0;                ///< the step of the wait
    int parity = 0;
    /// The warp has waited for that phase before, and for nothing else since it last arrived at an mbarrier.
    bool repeated = false;
};

/// Warps are numbered through the CTAs of the cluster.
class Waits {
  public:
    void reset(std::size_t warps) {
        warps_.assign(warps, {});
        suspects_.clear();
    }

    /// The warp waits at step `pc` with parity 0 or 1, as number `local` of its CTA, and knows that clock of
    /// the object.
    Mbarrier::Wait wait(int warp, int local, Mbarrier& mbarrier, std::int64_t parity, std::uint32_t known,
                        std::uint32_t pc);
    /// The warp meets others at a barrier.
    void meets(int warp) { of(warp).news_since_meeting = false; }
    /// The warp has arrived at mbarriers.
    void arrives(int warp) { of(warp).news_since_arrival = of(warp).news_since_meeting = false; }
    /// A lane of the warp arrives at this mbarrier, possibly too early.
    void arrives_at(int warp, const Mbarrier& mbarrier);
    /// The object is initialised again.
    void forget(const Mbarrier& mbarrier) {
        suspects_.erase(mbarrier.actor());
        for (Warp& warp : warps_) warp.arrived.erase(mbarrier.actor());
    }

    /// The last wait of the warp, if it has waited for that phase before and for nothing else since; or null.
    /// Like all results here, it is valid until the next wait.
    const LetThrough* repeated(int warp) const;
    /// The wait of the warp that should have been for the phase of the mbarrier that ends at this clock, or
    /// null.
    const LetThrough* for_phase(int warp, int actor, std::uint32_t clock) const;
    /// The same, of any warp.
    const LetThrough* for_phase(int actor, std::uint32_t clock) const;
    /// The wait that is to blame for what the warp does before a phase of the mbarrier has been waited for,
    /// or null: its own last one, or that of a warp that has arrived at the mbarrier, or has waited for it.
    /// Its last one is that, too, if a fresh mbarrier has let it through although the warp is in a later
    /// turn: it has arrived before.
    const LetThrough* to_blame(int warp, const Mbarrier& mbarrier) const;

  private:
    struct Warp {
        /// Has a wait for an mbarrier told it anything since it arrived at one; since it met other warps?
        bool news_since_arrival = false, news_since_meeting = false;
        std::vector<LetThrough> let_through;  ///< since it last waited for an unknown phase
        /// It has just been let through by an mbarrier of which no phase is complete, and has not arrived
        /// since.
        bool by_a_fresh_one = false;
        std::map<int, std::uint32_t>
            arrived;  ///< the phase in which it last arrived at an mbarrier, by actor
    };
    struct Suspect {
        LetThrough wait;
        std::uint32_t phase;  ///< the phase in which the warp arrived
    };
    Warp& of(int warp) { return warps_[static_cast<std::size_t>(warp)]; }
    const Warp& of(int warp) const { return warps_[static_cast<std::size_t>(warp)]; }

    std::vector<Warp> warps_;
    std::map<int, Suspect> suspects_;  ///< the last suspect of each mbarrier, by actor
};

}  // namespace wgrun::machine
