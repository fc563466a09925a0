// What a run tells of the boxes of tensor maps that no launch describes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "sim/cta.hpp"
#include "sim/sim.hpp"

namespace wgrun::sim {

/// The boxes that are stored from shared memory.
class Boxes {
  public:
    void reset() { stores_.clear(); }
    /// A box of the map is stored from this offset of a CTA's shared memory on.
    void stored(std::uint64_t map, std::size_t cta, std::uint32_t offset) { stores_[{cta, offset}] = map; }
    /// At the end of a run: adds how long the boxes are that were stored. What threads have written and
    /// nobody has read since is there for the store that begins before it. The shortest one of a map counts.
    void measure(std::span<const Cta> ctas, BoxSizes& sizes) const;

  private:
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> stores_;  ///< by CTA and offset: the map
};

}  // namespace wgrun::sim
