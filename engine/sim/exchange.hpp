// What the clusters of a launch learn from each other through global memory: by releases and acquires in the
// scope of the GPU (PTX ISA 8.9), also by way of clusters in between.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "sim/clocks.hpp"

namespace wgrun::sim {

/// What is known of clusters: of each, what it released at which location.
class Knowledge {
  public:
    /// A later release at a location knows what the cluster's earlier ones there did.
    void add(std::uint64_t cluster, std::uint64_t location, std::uint64_t time,
             std::shared_ptr<const Snapshot> released) {
        Released& at = of_[cluster][location];
        if (!at.what || at.time < time) at = {time, std::move(released)};
    }
    void add(const Knowledge& other) {
        for (const auto& [cluster, locations] : other.of_)
            for (const auto& [location, released] : locations)
                add(cluster, location, released.time, released.what);
    }
    /// Returns whether it knows what the lane of an actor of that cluster did at that clock.
    bool has(std::uint64_t cluster, int actor, int lane, std::uint32_t clock) const {
        const auto found = of_.find(cluster);
        if (found == of_.end()) return false;
        for (const auto& [location, released] : found->second)
            if (released.what->has(actor, lane, clock)) return true;
        return false;
    }
    bool empty() const { return of_.empty(); }

  private:
    struct Released {
        std::uint64_t time = 0;
        std::shared_ptr<const Snapshot> what;
    };
    std::map<std::uint64_t, std::map<std::uint64_t, Released>> of_;
};

/// The locations of a launch, and what can be learned there. Guarded by Turns::global_memory().
class Exchange {
  public:
    /// What a cluster released at a location: what it had done, and what it knew of others.
    struct Release {
        std::uint64_t time = 0;
        std::shared_ptr<const Snapshot> done;
        std::shared_ptr<const Knowledge> known;
    };
    struct Place {
        std::map<std::uint64_t, Release> releases;  ///< by cluster: the last
        std::uint64_t changed = 0;                  ///< the time of the last of them
        std::uint64_t writer = nobody;              ///< the cluster that stored last

        void teach(Knowledge& reader, std::uint64_t location) const {
            for (const auto& [cluster, release] : releases) {
                reader.add(*release.known);
                reader.add(cluster, location, release.time, release.done);
            }
        }
    };

    /// Returns null where nothing has been released.
    const Place* find(std::uint64_t location) const {
        const auto found = places_.find(location);
        return found == places_.end() ? nullptr : &found->second;
    }
    /// Whoever acquires there learns of it.
    void release(std::uint64_t location, std::uint64_t cluster, Snapshot done,
                 std::shared_ptr<const Knowledge> known) {
        Place& place = places_[location];
        place.changed = ++time_;
        place.releases[cluster] = {time_, std::make_shared<const Snapshot>(std::move(done)),
                                   std::move(known)};
    }
    /// A store that is no atomic takes the place of what others have released there.
    void store(std::uint64_t location, std::uint64_t cluster) {
        const auto found = places_.find(location);
        if (found == places_.end() || found->second.writer == cluster) return;
        found->second = Place{{}, 0, cluster};
    }

  private:
    static constexpr std::uint64_t nobody = UINT64_MAX;
    std::map<std::uint64_t, Place> places_;
    std::uint64_t time_ = 0;  ///< counts the releases
};

}  // namespace wgrun::sim
