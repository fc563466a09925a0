// Where the clusters of a launch learn from each other, and what they have done.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "sim/devices.hpp"
#include "sim/discarded.hpp"
#include "sim/knowledge.hpp"
#include "sim/launch_history.hpp"

namespace wgrun::sim {

/// The locations of a launch, and what can be learned there. Guarded by Turns::global_memory().
class Exchange {
  public:
    struct Place {
        struct Left {
            Release release;
            std::shared_ptr<const ClusterKnowledge> known;  ///< what the cluster knew of others
        };
        /// By cluster the last, and the last in the scope of the system: threads of other devices see these.
        std::map<std::uint64_t, Left> left, of_system;
        std::uint64_t changed = 0;  ///< the time of the last of them, or of a store in the place of others

        /// Adds what threads of a device learn there from clusters of their own device or, `others`, of the
        /// other ones.
        void teach(ClusterKnowledge& reader, std::uint64_t location, std::uint32_t device, bool others,
                   Devices devices) const {
            for (const auto& [cluster, last] : others ? of_system : left) {
                if ((devices.of(cluster) != device) != others) continue;
                reader.add(*last.known);
                reader.add(cluster, location, last.release);
            }
        }
    };

    explicit Exchange(Devices of) : devices(of) {}
    const Devices devices;

    /// Of clusters that take turns on one host thread: what they have done. Else they are compared when they
    /// have ended.
    std::optional<LaunchHistory> history;

    /// Of a program that discards memory.
    std::optional<Discarded> discarded;

    /// Returns null where nothing has been released.
    const Place* find(std::uint64_t location) const {
        const auto found = places_.find(location);
        return found == places_.end() ? nullptr : &found->second;
    }
    /// Who acquires there learns of it: on the cluster's device, or with `system` on the others.
    void release(std::uint64_t location, std::uint64_t cluster, Snapshot done,
                 std::shared_ptr<const ClusterKnowledge> known, bool system) {
        Place& place = places_[location];
        place.changed = ++time_;
        (system ? place.of_system : place.left)[cluster] = {
            {time_, std::make_shared<const Snapshot>(std::move(done))}, std::move(known)};
    }
    /// A store that is no atomic takes the place of what others have released there. What the cluster has
    /// released there it hands on (PTX ISA 8.8, release patterns).
    void store(std::uint64_t location, std::uint64_t cluster) {
        const auto found = places_.find(location);
        if (found == places_.end()) return;
        Place& place = found->second;
        const auto by_another = [&](const auto& one) { return one.first != cluster; };
        if (std::erase_if(place.left, by_another) + std::erase_if(place.of_system, by_another) > 0)
            place.changed = ++time_;
    }

  private:
    std::map<std::uint64_t, Place> places_;
    std::uint64_t time_ = 0;  ///< counts what changes a place
};

}  // namespace wgrun::sim
