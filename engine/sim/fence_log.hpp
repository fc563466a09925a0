// Fences between proxies that order accesses of several clusters to global memory: one is of use to an access
// that comes after it, in the place of those before it alone, whichever cluster executes it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "isa/order.hpp"
#include "sim/global_fences.hpp"
#include "sim/knowledge.hpp"

namespace wgrun::sim {

/// What a lane knows of its own cluster and of others.
struct Knower {
    std::uint32_t cluster;
    const Shadow& shadow;
    const Learned& learned;
    const Actor& actor;
    int lane;

    bool knows(std::uint32_t of, Epoch past) const {
        return of == cluster ? shadow.ordered(actor, lane, past) : learned.knows(of, past, actor);
    }
};

class FenceLog {
  public:
    /// Whose it is: its threads have the scope in common with those of the CTA, the cluster, the
    /// device, or all.
    struct Reach {
        isa::Scope scope = isa::Scope::gpu;
        int cta = 0;              ///< in the cluster
        std::uint64_t place = 0;  ///< the only tensor map that it releases, as the shadow has it; 0: all
    };
    struct Fence {
        std::uint32_t cluster;
        Epoch by;  ///< of one lane
        GlobalFences::Fence knows;
        std::shared_ptr<const ClusterKnowledge> learned;  ///< of other clusters
        Reach reach;

        /// Returns whether the access comes before it.
        bool after(std::uint32_t of, Epoch past) const {
            if (of != cluster) return learned->has(of, past);
            const auto actor = static_cast<std::size_t>(past.actor());
            if (actor >= knows.seen.size()) return true;  // what wrote asynchronously is not followed
            const bool own = past.actor() == by.actor();
            return past.clock() <=
                   (own ? knows.own[static_cast<std::size_t>(past.lane())] : knows.seen[actor]);
        }
    };

    void add(Fence fence) { fences_.push_back(std::move(fence)); }
    /// Returns the last fence between the access and what the knower does now for which fits() holds, or
    /// null.
    template <class Fits>
    const Fence* between(std::uint32_t of, Epoch past, const Knower& now, Fits fits) const {
        const auto found = std::find_if(fences_.rbegin(), fences_.rend(), [&](const Fence& fence) {
            return fits(fence) && fence.after(of, past) && known(fence, now);
        });
        return found == fences_.rend() ? nullptr : &*found;
    }

  private:
    static bool known(const Fence& fence, const Knower& by) {
        for (isa::Mask left = fence.knows.lanes; left != 0; left &= left - 1) {
            const auto lane = static_cast<std::size_t>(std::countr_zero(left));
            if (by.knows(fence.cluster, fence.by.of_lane(lane))) return true;
        }
        return false;
    }

    std::vector<Fence> fences_;
};

}  // namespace wgrun::sim
