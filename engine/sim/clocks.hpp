// Vector clocks: what each warp of a cluster knows to have happened before its next step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::sim {

/// Every actor has a clock of its own. Actors are the warps of the cluster, and after them whatever works
/// asynchronously: the bulk copies that one mbarrier counts, and those that one thread has in its groups.
/// A row says what is known:
///   seen[a]       what actor a did up to this clock happened before
///   published[t]  so did the generic accesses of thread t to shared memory up to this clock, and a fence
///                 orders the async proxy after them. A cluster has a second row of these: the first is of
///                 accesses to the memory of the thread's own CTA, the second of those to other CTAs'
///   finished[u]   the wgmma of warp u have ended up to this serial number
/// Each warp has a row, and so have the places where warps meet (barriers), through which they learn from
/// each other: a warp releases into a place what it knows, and acquires what others left there.
class Clocks {
  public:
    /// Actors are named by ten bits in the shadow of shared memory.
    static constexpr int max_actors = 1024;

    /// warps: of the cluster, 1..512; warps_per_cta: fewer where there are several CTAs.
    explicit Clocks(int warps, int warps_per_cta);
    explicit Clocks(int warps) : Clocks(warps, warps) {}

    /// Every warp at clock 1, knowing nothing; no other actors, no places.
    void reset();

    /// Another actor, at clock 0. Throws ArgumentError when there are too many.
    int add_actor();
    /// One that writes to the memory of the CTA of that rank through the generic proxy. The actor after it
    /// stands for what is published of that: whoever knows it to be past some clock knows that the async
    /// proxy sees what was written up to there.
    int add_generic_actor(int cta);
    /// A place that knows nothing: a row after those of the warps.
    int add_place();

    int warps() const { return warps_; }
    int actors() const { return actors_; }

    // Of a warp or a place.
    const std::uint32_t* seen(int row) const { return this->row(row); }
    const std::uint32_t* published(int row) const { return this->row(row) + published_at(); }
    const std::uint32_t* finished(int row) const { return this->row(row) + published_at() + threads(); }
    std::uint32_t now(int warp) const { return row(warp)[warp]; }

    /// What all four warps of the warpgroup that begins with warp `first` know: the least of each.
    struct Group {
        const std::uint32_t* seen;
        const std::uint32_t* published;
    };
    Group group(int first);

    /// fence.proxy.async by the lanes of `lanes`: publishes what other warps did and the warp has seen, what
    /// these lanes did, and what the others of the warp did before it last converged. own_memory: of the
    /// CTA's own memory alone (.shared::cta).
    void proxy_fence(int warp, isa::Mask lanes, bool whole_warp, bool own_memory = false);
    /// What the warp does next is later than what it has done.
    void tick(int warp) {
        ++row(warp)[warp];
        changed(warp);
    }
    /// All lanes of the warp meet: each knows what the others did.
    void converge(int warp);
    /// Some lanes do.
    void meet(int warp);
    /// The warp's clock when all its lanes last learnt of each other.
    std::uint32_t converged(int warp) const { return converged_[static_cast<std::size_t>(warp)]; }
    /// The warp's clock when lanes of it last learnt of each other: later writes of one are not known to
    /// others.
    std::uint32_t met(int warp) const { return met_[static_cast<std::size_t>(warp)]; }
    /// The place learns what the warp knows; what the warp does next is later. whole_warp: do all its lanes
    /// release?
    void release(int warp, int place, bool whole_warp = true);
    /// The warp learns what the place knows, and its lanes of each other if they all released there.
    void acquire(int warp, int place);
    /// The place learns what the other knows.
    void join(int place, int other) { raise(place, other); }
    /// The place learns what the other knows, which then knows nothing.
    void drain(int from, int place);
    /// The place learns what the warp knows of other actors than warps.
    void release_actors(int warp, int place);
    void clear(int place);
    /// A warp or a place learns that `actor` got as far as `clock`.
    void learn(int row, int actor, std::uint32_t clock);
    /// The warp, of the warpgroup that begins with warp `first`, has waited for its wgmma up to `serial`.
    /// That is the end of them for all four: they are one operation of the warpgroup (docs/silicon.md).
    void finish(int warp, int first, std::uint32_t serial);

  private:
    const std::uint32_t* row(int index) const {
        return rows_.data() + static_cast<std::size_t>(index) * stride_;
    }
    std::uint32_t* row(int index) { return rows_.data() + static_cast<std::size_t>(index) * stride_; }
    std::size_t published_at() const { return static_cast<std::size_t>(capacity_); }
    /// Columns for threads.
    std::size_t threads() const {
        return static_cast<std::size_t>(warps_) * isa::lanes * (warps_ == warps_per_cta_ ? 1 : 2);
    }
    void raise(int to, int from);
    void changed(int row) {
        if (row < warps_) ++versions_[static_cast<std::size_t>(row)];
    }
    void widen();

    /// An actor that works through the generic proxy, and the rank of the CTA whose memory it writes.
    struct Generic {
        int actor, cta;
    };

    int warps_, warps_per_cta_;
    std::vector<Generic> generic_;
    int actors_, capacity_;  ///< capacity: of the columns for actors, warps included
    std::size_t stride_;     ///< of a row: actors, then threads, then warps
    std::vector<std::uint32_t> rows_;
    // By warp, its clock when all its lanes last met, and when they last released together.
    std::vector<std::uint32_t> converged_, released_;
    std::vector<std::uint32_t> met_;  ///< likewise, when any of them last met

    /// The least of four rows, kept while none of them changes.
    struct GroupRow {
        std::uint64_t version = UINT64_MAX;
        std::vector<std::uint32_t> row;
    };
    std::vector<GroupRow> groups_;
    std::vector<std::uint64_t> versions_;  ///< of the warps' rows: counts their changes
};

}  // namespace wgrun::sim
