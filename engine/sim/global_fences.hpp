// Which generic writes to global memory the async proxy sees: those that a fence.proxy.async of global memory
// orders before the current step. For shared memory, Clocks record this at every synchronisation. Writes to
// global memory that bulk copies access are rare, so only the fences are kept here.
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
    struct Fence {
        std::uint32_t clock;
        isa::Mask lanes, so_far;                    ///< that executed it, and it or one before
        std::vector<std::uint32_t> seen;            ///< by warp: what any lanes of other warps did
        std::array<std::uint32_t, isa::lanes> own;  ///< by lane: what the warp itself did
    };
    /// Returns a fence by these lanes.
    static Fence made(Clocks& clocks, int warp, Lanes lanes);
    /// Records a fence by these lanes. The warp's clock ticks.
    const Fence& add(Clocks& clocks, int warp, Lanes lanes);
    /// Returns, by thread, the clock up to which its writes are published to this lane, which knows so much.
    /// The result is valid until the next call.
    const std::uint32_t* published(const KnownClocks& knows, int warp, int lane);

  private:
    std::vector<std::vector<Fence>> fences_;  ///< by warp, in their order
    std::vector<std::uint32_t> published_;
};

}  // namespace wgrun::sim
