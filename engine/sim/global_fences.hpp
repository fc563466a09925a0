// Which generic writes to global memory the async proxy sees: those that a fence.proxy.async of global memory
// orders before the step at hand. Clocks say so for shared memory, at every synchronisation; writes to global
// memory that bulk copies meet are rare, so that here only the fences are kept.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/clocks.hpp"

namespace wgrun::sim {

class GlobalFences {
  public:
    explicit GlobalFences(int warps) : fences_(static_cast<std::size_t>(warps)) {}

    void reset();
    /// A fence by these lanes. The warp's clock ticks.
    void add(Clocks& clocks, int warp, Lanes lanes);
    /// By thread: the clock up to which its writes are published, to those who know so much. Valid until the
    /// next call.
    const std::uint32_t* published(const Known& knows);

  private:
    struct Fence {
        std::uint32_t clock;
        std::vector<std::uint32_t> seen;  ///< what any lanes of other warps did: by warp
        std::array<std::uint32_t, isa::lanes>
            own;  ///< what the warp itself did: by lane, of all fences so far
    };
    std::vector<std::vector<Fence>> fences_;  ///< by warp, in their order
    std::vector<std::uint32_t> published_;
};

}  // namespace wgrun::sim
