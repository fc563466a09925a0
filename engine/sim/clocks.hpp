// Vector clocks: what each warp of a CTA knows to have happened before its next step.
#pragma once

#include <cstdint>
#include <vector>

#include "wgrun/isa.hpp"

namespace wgrun::sim {

/// Every warp w has a clock of its own, which a barrier or a proxy fence advances, and three vectors that
/// barriers carry from warp to warp:
///   seen[u]       accesses of warp u up to this clock happened before
///   published[t]  so did the generic writes of thread t up to this clock, and the async proxy sees them
///   finished[u]   warp u has waited for its wgmma up to this serial number
class Clocks {
  public:
    /// warps: of the CTA, 1..32.
    explicit Clocks(int warps);

    /// Everybody at clock 1, knowing nothing.
    void reset();

    const std::uint32_t* seen(int warp) const { return row(warp); }
    const std::uint32_t* published(int warp) const { return row(warp) + warps_; }
    const std::uint32_t* finished(int warp) const { return row(warp) + warps_ + warps_ * isa::lanes; }
    std::uint32_t now(int warp) const { return row(warp)[warp]; }

    /// What all four warps of a warpgroup have published to the async proxy: the least of `published`.
    const std::uint32_t* published_to_group(int group);

    /// fence.proxy.async by the lanes of `lanes`: publishes the writes of these lanes and, when the whole
    /// warp executes it, all writes that the warp has seen.
    void proxy_fence(int warp, isa::Mask lanes, bool whole_warp);
    /// A barrier of the warps whose bits are set: each learns what all know.
    void join(std::uint32_t warps);
    /// The warp has waited for its wgmma up to `serial`.
    void finish(int warp, std::uint32_t serial);

  private:
    const std::uint32_t* row(int warp) const {
        return rows_.data() + static_cast<std::size_t>(warp) * stride_;
    }
    std::uint32_t* row(int warp) { return rows_.data() + static_cast<std::size_t>(warp) * stride_; }

    int warps_;
    std::size_t stride_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::uint32_t> joined_;
    std::vector<std::uint32_t> group_rows_;
    std::uint32_t stale_groups_ = 0;  ///< bit g: group_rows_ of g must be made anew
};

}  // namespace wgrun::sim
