// What the clusters of a launch learn from each other through global memory: by releases and acquires in the
// scope of the GPU (PTX ISA 8.9), also by way of clusters in between.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/clocks.hpp"
#include "sim/shadow.hpp"

namespace wgrun::sim {

/// What a cluster released at a location, at a time that counts the releases of a launch.
struct Release {
    std::uint64_t time = 0;
    std::shared_ptr<const Snapshot> done;
};

/// What is known of clusters: of each, its last release at each location. It knows what those before it did.
class Knowledge {
  public:
    void add(std::uint64_t cluster, std::uint64_t location, Release release) {
        Release& last = of_[cluster][location];
        if (last.time < release.time) last = std::move(release);
    }
    void add(const Knowledge& other) {
        other.for_each([&](std::uint64_t cluster, std::uint64_t location, const Release& release) {
            add(cluster, location, release);
        });
    }
    bool empty() const { return of_.empty(); }
    /// Calls visit(cluster, location, release).
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [cluster, locations] : of_)
            for (const auto& [location, release] : locations) visit(cluster, location, release);
    }

  private:
    std::map<std::uint64_t, std::map<std::uint64_t, Release>> of_;
};

/// What a cluster has learned in its run, and when.
class Learned {
  public:
    /// The clocks of its warps.
    using Now = std::shared_ptr<const std::vector<std::uint32_t>>;

    void add(const Knowledge& more, const Now& now) {
        more.for_each([&](std::uint64_t cluster, std::uint64_t location, const Release& release) {
            std::vector<Lesson>& lessons = of_[cluster][location];
            if (lessons.empty() || lessons.back().release.time < release.time)
                lessons.push_back({release, now});
        });
    }
    bool empty() const { return of_.empty(); }
    /// Returns whether it had learned of `theirs`, an access of that cluster, when its own access `mine` was
    /// made. Of its own bulk copies that is not followed, nor which warps know what another one has learned.
    bool orders(std::uint64_t cluster, Epoch theirs, Epoch mine) const {
        const auto found = of_.find(cluster);
        if (found == of_.end()) return false;
        for (const auto& [location, lessons] : found->second)
            for (const auto& [release, now] : lessons)
                if (release.done->has(theirs.actor(), theirs.lane(), theirs.clock())) {
                    const auto warp = static_cast<std::size_t>(mine.actor());
                    if (warp >= now->size() || mine.clock() >= (*now)[warp]) return true;
                    break;  // later lessons are later still
                }
        return false;
    }

  private:
    struct Lesson {
        Release release;
        Now now;
    };
    std::map<std::uint64_t, std::map<std::uint64_t, std::vector<Lesson>>> of_;
};

/// The locations of a launch, and what can be learned there. Guarded by Turns::global_memory().
class Exchange {
  public:
    struct Place {
        struct Left {
            Release release;
            std::shared_ptr<const Knowledge> known;  ///< what the cluster knew of others
        };
        std::map<std::uint64_t, Left> left;  ///< by cluster: the last
        std::uint64_t changed = 0;           ///< the time of the last of them
        std::uint64_t writer = nobody;       ///< the cluster that stored last

        void teach(Knowledge& reader, std::uint64_t location) const {
            for (const auto& [cluster, last] : left) {
                reader.add(*last.known);
                reader.add(cluster, location, last.release);
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
        place.left[cluster] = {{time_, std::make_shared<const Snapshot>(std::move(done))}, std::move(known)};
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
