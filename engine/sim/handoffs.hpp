// Release and acquire (PTX ISA 8): what warps of a cluster learn from each other through locations in memory.
#pragma once

#include <map>

#include "isa/order.hpp"
#include "sim/clocks.hpp"

namespace wgrun::sim {

/// A releasing write leaves what the warp knows at its location, and so does a strong write after a releasing
/// fence. An acquiring read takes it from there, and so does an acquiring fence from the locations of strong
/// reads before it. Both sides must name a scope that includes the other's CTA.
class Handoffs {
  public:
    explicit Handoffs(Clocks& clocks, int warps_per_cta) : clocks_(clocks), warps_per_cta_(warps_per_cta) {}

    void reset();

    // Strong accesses. location: of the first byte, the same for all threads that access it.
    void read(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order);
    /// combines: it is an atomic, which passes on what others have left there.
    void write(int warp, Lanes lanes, std::uint64_t location, const isa::MemoryOrder& order, bool combines);
    void fence(int warp, Lanes lanes, const isa::MemoryOrder& order);

    /// Returns where this cluster may have synchronised with others, and what it has released there.
    std::map<std::uint64_t, Snapshot> beyond_cluster() const;

  private:
    /// Rows of Clocks: one for threads of each CTA, and one for all others.
    struct Places {
        int cta = -1, wide = -1;
    };
    struct Location {
        int writer = -1;                 ///< the warp that wrote last, if it combined nothing
        std::map<int, int> places = {};  ///< rows of Clocks by CTA; -1: of everywhere
    };
    static bool wide(const isa::MemoryOrder& order) { return order.scope > isa::Scope::cta; }
    int& made(int& place);
    int cta_of(int warp) const { return warp / warps_per_cta_; }

    Clocks& clocks_;
    int warps_per_cta_;
    std::map<std::uint64_t, Location> locations_;
    std::map<int, Places> released_;  ///< by warp: at its last releasing fence
    std::map<int, Places> read_;      ///< by warp: at the locations that it has read since an acquiring fence
    /// A location accessed in the scope of the GPU.
    struct Beyond {
        bool ordered = false;  ///< acquired or released
        int released = -1;     ///< row of Clocks: all that was ever released
    };
    std::map<std::uint64_t, Beyond> beyond_;
    bool fenced_ = false;  ///< a fence of that scope was executed
};

}  // namespace wgrun::sim
