// What the clusters of a launch learn from each other through global memory: by releases and acquires in the
// scope of the GPU (PTX ISA 8.9), also by way of clusters in between.
#pragma once

#include <algorithm>
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
class ClusterKnowledge {
  public:
    void add(std::uint64_t cluster, std::uint64_t location, Release release) {
        Release& last = of_[cluster][location];
        if (last.time < release.time) last = std::move(release);
    }
    void add(const ClusterKnowledge& other) {
        other.for_each([&](std::uint64_t cluster, std::uint64_t location, const Release& release) {
            add(cluster, location, release);
        });
    }
    bool empty() const { return of_.empty(); }
    /// Returns whether a release of the cluster came after the access.
    bool has(std::uint64_t cluster, Epoch past) const {
        const auto found = of_.find(cluster);
        return found != of_.end() && std::ranges::any_of(found->second, [&](const auto& at) {
                   return at.second.done->has(past.actor(), past.lane(), past.clock());
               });
    }
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

    /// A lesson, numbered among those of the actor that stands for it: who knows the actor so far knows it.
    struct Number {
        int actor = -1;
        std::uint32_t count = 0;
    };

    /// Lanes of the warp learn more.
    void add(const ClusterKnowledge& more, int warp, const Now& now, Number number) {
        more.for_each([&](std::uint64_t cluster, std::uint64_t location, const Release& release) {
            std::vector<Lesson>& lessons = of_[cluster][location];
            const auto own = std::find_if(lessons.rbegin(), lessons.rend(),
                                          [&](const Lesson& lesson) { return lesson.warp == warp; });
            if (own == lessons.rend() || own->release.time < release.time)
                lessons.push_back({release, now, warp, number});
        });
    }
    bool empty() const { return of_.empty(); }
    /// Returns whether it had learned of `theirs`, an access of that cluster, when its own access `mine` was
    /// made. Of its own bulk copies that is not followed, nor which warps know what another one has learned.
    bool orders(std::uint64_t cluster, Epoch theirs, Epoch mine) const {
        const auto found = of_.find(cluster);
        if (found == of_.end()) return false;
        for (const auto& [location, lessons] : found->second)
            for (const auto& [release, now, learner, number] : lessons)
                if (release.done->has(theirs.actor(), theirs.lane(), theirs.clock())) {
                    const auto warp = static_cast<std::size_t>(mine.actor());
                    if (warp >= now->size() || mine.clock() >= (*now)[warp]) return true;
                    break;  // later lessons are later still
                }
        return false;
    }

    /// Returns whether somebody who knows so much knows of `theirs`.
    bool knows(std::uint64_t cluster, Epoch theirs, const KnownClocks& known) const {
        const auto found = of_.find(cluster);
        return found != of_.end() && std::ranges::any_of(found->second, [&](const auto& at) {
                   return std::any_of(at.second.rbegin(), at.second.rend(), [&](const Lesson& lesson) {
                       return lesson.release.done->has(theirs.actor(), theirs.lane(), theirs.clock()) &&
                              known.seen[lesson.number.actor] >= lesson.number.count;
                   });
               });
    }

  private:
    struct Lesson {
        Release release;
        Now now;
        int warp;  ///< that has learned
        Number number;
    };
    std::map<std::uint64_t, std::map<std::uint64_t, std::vector<Lesson>>> of_;
};

}  // namespace wgrun::sim
