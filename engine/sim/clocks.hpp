// Vector clocks: what each warp of a cluster knows to have happened before its next step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/warp.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::sim {

/// Lanes of a warp: those that do something, of those that exist.
struct Lanes {
    isa::Mask some, all;
    bool whole() const { return some == all; }
};

/// What more is known of some lanes of a warp than of all: what they did up to this clock of the warp.
struct Part {
    std::uint32_t clock = 0;
    isa::Mask lanes = 0;

    bool has(int lane) const { return (lanes >> lane & 1U) != 0; }
    /// Where others know of other lanes, both are taken together.
    void join(Part other) {
        clock = std::max(clock, other.clock);
        lanes |= other.lanes;
    }
};

/// What a thread knows: a row of Clocks.
struct Known {
    const std::uint32_t* seen;
    const std::uint32_t* published;
    const std::uint32_t* finished;
    const Part* parts = nullptr;     ///< by warp
    std::uint32_t met = UINT32_MAX;  ///< it knows what the other lanes of its warp did up to this clock
};

/// What a place knows, kept beyond its cluster. Empty: nothing.
struct Snapshot {
    std::vector<std::uint32_t> seen;  ///< by actor
    std::vector<Part> parts;          ///< by warp

    /// Of what the lane of an actor did at that clock; of actors that came later, too.
    bool has(int actor, int lane, std::uint32_t clock) const {
        const auto a = static_cast<std::size_t>(actor);
        if (seen.empty()) return false;
        if (a >= seen.size() || clock <= seen[a]) return true;
        return a < parts.size() && parts[a].has(lane) && clock <= parts[a].clock;
    }
};

/// Every actor has a clock of its own. Actors are the warps of the cluster, and after them whatever works
/// asynchronously: the bulk copies that one mbarrier counts, and those that one thread has in its groups.
/// A row says what is known:
///   seen[a]       what actor a did up to this clock happened before; if it is a warp, what all its lanes did
///   parts[w]      so did more of some lanes of warp w
///   published[t]  so did the generic accesses of thread t to shared memory up to this clock, and a fence
///                 orders the async proxy after them. A cluster has a second row of these: the first is of
///                 accesses to the memory of the thread's own CTA, the second of those to other CTAs'
///   finished[u]   the wgmma of warp u have ended up to this serial number
/// Each warp has a row, and so have the places where warps meet (barriers), through which they learn from
/// each other: a warp releases into a place what it knows, and acquires what others left there.
///
/// What some lanes of a warp learn, the others learn when they meet. Until then it is in a second row of the
/// warp, the front. Sets of lanes that learn different things, or that others learn different things of, are
/// taken together: so a race may be missed, and none is invented.
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

    /// Of a place, or what all lanes of a warp know.
    const std::uint32_t* seen(int row) const { return this->row(row); }
    /// What a lane knows.
    Known of(int warp, int lane) const { return known(row_of(warp, isa::Mask{1} << lane), warp); }
    /// What all that its lanes know comes to: whatever the warp does as a whole, comes after it.
    Known of(int warp) const { return known(row_of(warp, UINT32_MAX), warp); }
    Snapshot snapshot(int place) const {
        return {{row(place), row(place) + actors_}, {parts(place), parts(place) + warps_}};
    }
    std::uint32_t now(int warp) const { return row(warp)[warp]; }
    /// Lanes that know more than the others.
    isa::Mask ahead(int warp) const { return fronts_[static_cast<std::size_t>(warp)].lanes; }

    /// What all four warps of the warpgroup that begins with warp `first` know: the least of each.
    struct Group {
        const std::uint32_t* seen;
        const std::uint32_t* published;
    };
    Group group(int first);

    /// fence.proxy.async by these lanes: publishes what other threads did and the lanes know of, and what
    /// they did themselves. own_memory: of the CTA's own memory alone (.shared::cta).
    void proxy_fence(int warp, Lanes lanes, bool own_memory = false);
    /// What the warp does next is later than what it has done.
    void tick(int warp);
    /// Lanes of the warp meet: each knows what the others did and knew.
    void meet(int warp, Lanes lanes);
    /// The place learns what the lanes did and know; what the warp does next is later.
    void release(int warp, int place, Lanes lanes);
    /// The lanes learn what the place knows.
    void acquire(int warp, int place, Lanes lanes);
    /// The place learns what the other knows.
    void join(int place, int other) { raise(place, other); }
    /// The place learns what the other knows, which then knows nothing.
    void drain(int from, int place);
    /// The place learns what the lane knows of other actors than warps.
    void release_actors(int warp, int lane, int place);
    void clear(int place);
    /// A place learns that `actor` got as far as `clock`.
    void learn(int place, int actor, std::uint32_t clock);
    /// So do lanes of a warp.
    void learn(int warp, Lanes lanes, int actor, std::uint32_t clock);
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
    Known known(int row, int warp) const;
    /// The row that speaks for these lanes.
    int row_of(int warp, isa::Mask lanes) const {
        const Front& front = fronts_[static_cast<std::size_t>(warp)];
        return (front.lanes & lanes) != 0 ? front.row : warp;
    }
    const Part* parts(int row) const {
        return parts_.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(warps_);
    }
    Part& part(int row, int warp) {
        return parts_[static_cast<std::size_t>(row) * static_cast<std::size_t>(warps_) +
                      static_cast<std::size_t>(warp)];
    }
    int new_row();
    void raise(int to, int from);
    void settle(int row, int warp, std::uint32_t known);
    int go_ahead(int warp, Lanes lanes);
    void catch_up(int warp, Lanes lanes);
    void publish(int row, int warp, Lanes lanes, std::uint32_t met, bool own_memory);
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
    std::vector<Part> parts_;               ///< by row and warp
    std::vector<std::uint8_t> some_parts_;  ///< by row: are there any?
    std::vector<std::uint32_t> met_;        ///< by warp: up to this clock its lanes know of each other

    /// Of a warp some of whose lanes know more than the others.
    struct Front {
        int row = -1;         ///< kept for later when nobody is ahead
        isa::Mask lanes = 0;  ///< who is ahead; 0: nobody
        std::uint32_t met = 0;
        std::uint32_t changed = 0;  ///< the warp's clock when it last grew
    };
    std::vector<Front> fronts_;

    /// The least of four rows, kept while none of them changes.
    struct GroupRow {
        std::uint64_t version = UINT64_MAX;
        std::vector<std::uint32_t> row;
    };
    std::vector<GroupRow> groups_;
    std::vector<std::uint64_t> versions_;  ///< of the warps' rows: counts their changes
};

}  // namespace wgrun::sim
