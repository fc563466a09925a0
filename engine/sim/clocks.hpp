// Vector clocks: what each warp of a cluster knows to have happened before its next step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/warp.hpp"
#include "machine/proxies.hpp"
#include "memory/pages.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::sim {

/// Lanes of a warp: those that act, and those that exist.
struct Lanes {
    isa::Mask some, all;
    bool whole() const { return some == all; }
};

/// What is known about some lanes of a warp beyond what is known about all: what they did up to this clock of
/// the warp.
struct SomeLanes {
    std::uint32_t clock = 0;
    isa::Mask lanes = 0;

    bool has(int lane) const { return (lanes >> lane & 1U) != 0; }
    /// Joins two parts. If they are about different lanes, the result is about both sets.
    void join(SomeLanes other) {
        clock = std::max(clock, other.clock);
        lanes |= other.lanes;
    }
};

/// What a thread knows: a view of a row of Clocks.
struct KnownClocks {
    const std::uint32_t* seen;
    const std::uint32_t* published;
    const std::uint32_t* finished;
    const SomeLanes* parts = nullptr;  ///< by warp
    std::uint32_t met = UINT32_MAX;    ///< it knows what the other lanes of its warp did up to this clock
};

/// What a place knows, kept beyond its cluster. If `seen` is empty, it knows nothing.
struct Snapshot {
    std::vector<std::uint32_t> seen;  ///< by actor
    std::vector<SomeLanes> parts;     ///< by warp

    /// Returns whether it knows what the lane of an actor did at that clock. It also does for actors that
    /// were added later.
    bool has(int actor, int lane, std::uint32_t clock) const {
        const auto a = static_cast<std::size_t>(actor);
        if (seen.empty()) return false;
        if (a >= seen.size() || clock <= seen[a]) return true;
        return a < parts.size() && parts[a].has(lane) && clock <= parts[a].clock;
    }
};

/// Every actor has a clock of its own. Actors are the warps of the cluster, followed by whatever works
/// asynchronously: the bulk copies that one mbarrier counts, and those that one thread has in its groups. A
/// row holds what is known:
///   seen[a]       what actor a did up to this clock happened before; if it is a warp, what all its lanes did
///   parts[w]      so did more of some lanes of warp w
///   published[t]  so did the generic accesses of thread t to shared memory up to this clock, and a fence
///                 orders the async proxy after them. A cluster has a second row of these: the first is of
///                 accesses to the memory of the thread's own CTA, the second of those to other CTAs'
///   finished[u]   the wgmma of warp u have ended up to this serial number
/// Each warp has a row, and so does each place where warps meet (a barrier). Warps learn from each other
/// through places: a warp releases what it knows into a place, and acquires what others left there.
///
/// What some lanes of a warp learn, the others learn when they reconverge. Until then it is in a further row
/// of the warp, a front. Lanes that have learned together share one, and lanes that act together from then
/// on; beyond most_fronts of a warp, all of them do. Sets of lanes about which others learn different things
/// are merged too: a race may therefore be missed, but none is invented.
class Clocks {
  public:
    /// The shadow of shared memory names actors with ten bits.
    static constexpr int max_actors = 1024;
    static constexpr std::size_t most_fronts = 16;

    /// warps: those of the cluster, 1 to 512. warps_per_cta: fewer if the cluster has several CTAs.
    explicit Clocks(int warps, int warps_per_cta);
    explicit Clocks(int warps) : Clocks(warps, warps) {}

    /// Sets every warp to clock 1, without knowledge, and removes other actors and places.
    void reset();

    /// Adds an actor at clock 0. Throws ArgumentError when there are too many.
    int add_actor();
    /// Adds an actor that writes to the memory of the CTA of that rank through the generic proxy. The next
    /// actor stands for what is published of these writes: a row that knows it past a clock knows that the
    /// async proxy sees what was written up to that clock.
    int add_generic_actor(int cta);
    /// Adds a place that knows nothing: a row after those of the warps.
    int add_place();

    int warps() const { return warps_; }
    int actors() const { return actors_; }

    /// Returns what a place knows, or what all lanes of a warp know.
    const std::uint32_t* seen(int row) const { return this->row(row); }
    /// Returns what a lane knows.
    KnownClocks of(int warp, int lane) const { return known(row_of(warp, isa::Mask{1} << lane)); }
    /// Returns the union of what the lanes of the warp know: whatever the warp does as a whole comes after
    /// that.
    KnownClocks of(int warp) {
        const int row = merged(warp, ~isa::Mask{0});
        return known(row);
    }
    Snapshot snapshot(int place) const {
        return {{row(place), row(place) + actors_}, {parts(place), parts(place) + warps_}};
    }
    std::uint32_t now(int warp) const { return row(warp)[warp]; }
    /// Calls visit(lanes) for each set of lanes that know more than the others.
    template <class Visit>
    void for_each_front(int warp, Visit visit) const {
        for (const Front& front : fronts_[static_cast<std::size_t>(warp)])
            if (front.lanes != 0) visit(front.lanes);
    }

    /// What all four warps of the warpgroup that begins with warp `first` know: the minimum of each entry.
    struct Group {
        const std::uint32_t* seen;
        const std::uint32_t* published;
    };
    Group group(int first);

    /// These lanes execute a fence that orders shared memory. It publishes what they did, and what other
    /// threads did as far as the lanes know.
    void proxy_fence(int warp, Lanes lanes, machine::ProxyFence fence);
    /// Advances the warp's clock: what it does next comes after what it has done.
    void tick(int warp);
    /// Lanes of the warp reconverge: each knows what the others did and knew.
    void meet(int warp, Lanes lanes);
    /// The place learns what the lanes did and know, and the warp's clock advances.
    void release(int warp, int place, Lanes lanes);
    /// The lanes learn what the place knows.
    void acquire(int warp, int place, Lanes lanes);
    /// The place learns what the place `other` knows.
    void join(int place, int other) { raise(place, other); }
    /// The place learns what the place `from` knows. After that `from` knows nothing.
    void drain(int from, int place);
    /// The place learns what the lane knows about actors other than warps.
    void release_actors(int warp, int lane, int place, const std::vector<int>& but = {});
    void clear(int place);
    /// A place learns that `actor` got as far as `clock`.
    void learn(int place, int actor, std::uint32_t clock);
    /// Lanes of a warp learn the same.
    void learn(int warp, Lanes lanes, int actor, std::uint32_t clock);
    /// Lanes of a warp learn what a place of their cluster knew.
    void learn(int warp, Lanes lanes, const Snapshot& known);
    /// The warp, of the warpgroup that begins with warp `first`, has waited for its wgmma up to `serial`.
    /// They are complete for all four warps: a wgmma is one operation of the warpgroup (docs/silicon.md).
    void finish(int warp, int first, std::uint32_t serial);

  private:
    /// Lanes of a warp that know more than the others.
    struct Front {
        explicit Front(int row) : row(row) {}
        int row;                    ///< kept for later when no lane is ahead
        isa::Mask lanes = 0;        ///< 0: it is not used
        std::uint32_t changed = 0;  ///< the warp's clock when it last grew
    };
    const std::uint32_t* row(int index) const {
        return reinterpret_cast<const std::uint32_t*>(rows_.data()) +
               static_cast<std::size_t>(index) * stride_;
    }
    std::uint32_t* row(int index) {
        return reinterpret_cast<std::uint32_t*>(rows_.data()) + static_cast<std::size_t>(index) * stride_;
    }
    /// The number of rows.
    std::size_t rows() const { return some_parts_.size(); }
    std::size_t bytes_of(std::size_t rows) const { return rows * stride_ * sizeof(std::uint32_t); }
    std::size_t published_at() const { return static_cast<std::size_t>(capacity_); }
    /// Returns the number of columns for threads.
    std::size_t threads() const {
        return static_cast<std::size_t>(warps_) * isa::lanes * (warps_ == warps_per_cta_ ? 1 : 2);
    }
    KnownClocks known(int row) const;
    /// Returns a row that holds what one of these lanes knows.
    int row_of(int warp, isa::Mask lanes) const {
        for (const Front& front : fronts_[static_cast<std::size_t>(warp)])
            if ((front.lanes & lanes) != 0) return front.row;
        return warp;
    }
    /// Returns the row that holds what these lanes know together. Fronts that several of them are in become
    /// one.
    int merged(int warp, isa::Mask lanes);
    int merged(int warp, isa::Mask lanes, Front*& into);
    const SomeLanes* parts(int row) const {
        return parts_.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(warps_);
    }
    SomeLanes& part(int row, int warp) {
        return parts_[static_cast<std::size_t>(row) * static_cast<std::size_t>(warps_) +
                      static_cast<std::size_t>(warp)];
    }
    int new_row();
    void raise(int to, int from);
    void settle(int row, int warp, std::uint32_t known);
    int go_ahead(int warp, Lanes lanes, bool with_all);
    int set_apart(int warp, Lanes lanes);
    Front* unused_front(int warp);
    void copy_row(int from, int to);
    void catch_up(int warp, Lanes lanes);
    void publish(int row, int warp, Lanes lanes, std::uint32_t met, machine::ProxyFence fence);
    void changed(int row) {
        if (row < warps_) ++versions_[static_cast<std::size_t>(row)];
    }
    void widen();

    /// An actor that works through the generic proxy, and the rank of the CTA whose memory it writes.
    struct Generic {
        int actor, cta;
    };

    int warps_, warps_per_cta_;
    int snapshot_ = -1;  ///< a place for what is learned of a snapshot; -1: there is none yet
    std::vector<Generic> generic_;
    int actors_, capacity_;  ///< capacity: the columns for actors, warps included
    std::size_t stride_;     ///< of a row: actors, then threads, then warps
    /// Many places are never used: their rows take no memory.
    memory::Pages rows_;
    std::vector<SomeLanes> parts_;          ///< by row and warp
    std::vector<std::uint8_t> some_parts_;  ///< by row: whether there are any
    /// By row of a warp: its lanes know about each other up to this clock.
    std::vector<std::uint32_t> met_;
    std::vector<int> warp_of_;  ///< by row: whose front it is; -1: nobody's

    std::vector<std::vector<Front>> fronts_;  ///< by warp

    /// The minimum of four rows, kept while none of them changes.
    struct GroupRow {
        std::uint64_t version = UINT64_MAX;
        std::vector<std::uint32_t> row;
    };
    std::vector<GroupRow> groups_;
    std::vector<std::uint64_t> versions_;  ///< of the warps' rows: each counts the row's changes
};

}  // namespace wgrun::sim
