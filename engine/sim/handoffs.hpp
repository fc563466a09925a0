// Release and acquire (PTX ISA 8): what warps of a cluster learn of each other through places in memory.
#pragma once

#include <map>

#include "isa/order.hpp"
#include "sim/clocks.hpp"

namespace wgrun::sim {

/// A write that releases leaves at its place what the warp knows, and so does a strong write after a fence
/// that releases. A read that acquires takes it from there, and so does a fence that acquires from the places
/// of strong reads before it. Both sides must name a scope that holds the other's CTA.
class Handoffs {
  public:
    explicit Handoffs(Clocks& clocks, int warps_per_cta) : clocks_(clocks), warps_per_cta_(warps_per_cta) {}

    void reset();

    // Strong accesses. location: of the first byte, the same for all who access it.
    void read(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order);
    /// combines: it is an atomic, which passes on what others have left there.
    void write(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order, bool combines);
    void fence(int warp, Lanes lanes, const isa::MemoryOrder& order);

    /// Where this cluster may have met others, and what it has released there.
    std::map<std::uint64_t, Snapshot> beyond_cluster() const;

  private:
    /// Rows of Clocks: for threads of one CTA, and for others.
    struct Places {
        int cta = -1, wide = -1;
    };
    struct Location {
        int writer = -1;                 ///< the warp that wrote last, and combined nothing
        std::map<int, int> places = {};  ///< rows of Clocks by CTA; of everywhere: -1
    };
    static bool wide(const isa::MemoryOrder& order) { return order.scope > isa::Scope::cta; }
    int& made(int& place);
    int cta_of(int warp) const { return warp / warps_per_cta_; }

    Clocks& clocks_;
    int warps_per_cta_;
    std::map<std::uint64_t, Location> locations_;
    std::map<int, Places> released_;  ///< by warp: at its last fence that releases
    std::map<int, Places> read_;      ///< by warp: at the places that it has read since a fence acquired
    /// Accessed in the scope of the GPU.
    struct Beyond {
        bool ordered = false;  ///< acquired or released
        int released = -1;     ///< row of Clocks: all that was ever released
    };
    std::map<std::uint64_t, Beyond> beyond_;
    bool fenced_ = false;  ///< in that scope
};

}  // namespace wgrun::sim
