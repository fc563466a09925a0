// mbarrier objects: 64 opaque bits of shared memory, kept in a table of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/mbarrier.hpp"

namespace wgrun::sim {

/// An arrival that releases nothing.
struct RelaxedArrival {
    int warp;
    std::uint32_t clock, pc;
};

struct Mbarrier : machine::Mbarrier {
    using machine::Mbarrier::Mbarrier;

    // Places in Clocks: what came before the arrivals of the current phase, and before the complete ones.
    int arriving = -1, complete = -1;
    // The same for waits with .acquire.cta: without the arrivals of other CTAs.
    int arriving_near = -1, complete_near = -1;
    /// By warp: the clock of `actor` up to which relaxed waits have seen its phases, and nothing else of it.
    std::vector<std::uint32_t> seen_relaxed;
    std::vector<RelaxedArrival> arriving_relaxed,
        relaxed;             ///< in the current phase, and in the one before it
    int cta = 0;             ///< rank in the cluster
    int generic_actor = -1;  ///< stands for writes through the generic proxy, at the clock of `actor`
};

/// The mbarrier objects of a CTA.
class MbarrierTable {
  public:
    void reset() {
        objects_.clear();
        begin_ = end_ = 0;
    }
    /// Returns the object that starts at this offset, live or ended, or null. The pointer is valid until the
    /// next add.
    Mbarrier* find(std::uint32_t offset);
    Mbarrier& add(std::uint32_t offset, int actor);
    /// Returns a live object that an access to these bytes overlaps, or null.
    const Mbarrier* touched(std::uint32_t offset, std::uint32_t size) const {
        return offset < end_ && offset + size > begin_ ? search(offset, size) : nullptr;
    }
    std::vector<Mbarrier>& all() { return objects_; }

  private:
    const Mbarrier* search(std::uint32_t offset, std::uint32_t size) const;

    std::vector<Mbarrier> objects_;      ///< by offset
    std::uint32_t begin_ = 0, end_ = 0;  ///< range of all objects together
};

}  // namespace wgrun::sim
