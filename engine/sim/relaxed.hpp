// Hand-overs by mbarriers that order no memory, since the arrival or the wait is relaxed: what they would
// have ordered is mended there.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/clocks.hpp"
#include "sim/mbarrier.hpp"
#include "sim/shadow.hpp"

namespace wgrun::sim {

class RelaxedHandovers {
  public:
    /// The steps that are relaxed; no_pc: that one is not.
    struct Steps {
        std::uint32_t arrival = machine::no_pc, wait = machine::no_pc;
    };

    void clear() { passed_.clear(); }
    /// A warp has passed a wait for the mbarrier. wait: the step, if it is relaxed; done: what its phases
    /// know then.
    void passed(int warp, const Mbarrier& mbarrier, std::uint32_t wait, Snapshot done) {
        passed_[{warp, mbarrier.actor()}] = {mbarrier.relaxed, wait, std::move(done)};
    }
    /// What would have ordered the access before what the warp does now.
    std::optional<Steps> between(Epoch access, int warp) const {
        for (auto it = passed_.lower_bound({warp, -1}); it != passed_.end() && it->first.first == warp;
             ++it) {
            const auto& [arrivals, wait, done] = it->second;
            for (const RelaxedArrival& arrival : arrivals)
                if (arrival.warp == access.actor() && access.clock() <= arrival.clock)
                    return Steps{arrival.pc, wait};
            if (wait != machine::no_pc && done.has(access.actor(), access.lane(), access.clock()))
                return Steps{machine::no_pc, wait};
        }
        return std::nullopt;
    }

  private:
    struct Pass {
        std::vector<RelaxedArrival> arrivals;
        std::uint32_t wait;
        Snapshot done;
    };
    std::map<std::pair<int, int>, Pass> passed_;  ///< by warp, and actor of the mbarrier
};

}  // namespace wgrun::sim
