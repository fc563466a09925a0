#include "sim/global_fences.hpp"

#include <algorithm>

namespace wgrun::sim {

void GlobalFences::reset() {
    for (auto& fences : fences_) fences.clear();
}

void GlobalFences::add(Clocks& clocks, int warp, isa::Mask lanes, bool whole_warp) {
    auto& fences = fences_[static_cast<std::size_t>(warp)];
    const std::uint32_t* seen = clocks.seen(warp);
    Fence fence{clocks.now(warp), {seen, seen + fences_.size()}, {}};
    if (!fences.empty()) fence.own = fences.back().own;
    for (std::size_t lane = 0; lane < fence.own.size(); ++lane) {
        const bool by_itself = whole_warp || (lanes >> lane & 1U) != 0;
        fence.own[lane] = std::max(fence.own[lane], by_itself ? fence.clock : clocks.converged(warp));
    }
    fences.push_back(std::move(fence));
    clocks.tick(warp);
}

const std::uint32_t* GlobalFences::published(const std::uint32_t* seen) {
    const std::size_t warps = fences_.size();
    published_.assign(warps * isa::lanes, 0U);
    for (std::size_t by = 0; by < warps; ++by) {
        const auto& fences = fences_[by];
        // The last one that is known covers those before it.
        const auto end = std::ranges::upper_bound(fences, seen[by], {}, &Fence::clock);
        if (end == fences.begin()) continue;
        const Fence& fence = *(end - 1);
        for (std::size_t warp = 0; warp < warps; ++warp)
            for (std::size_t lane = 0; lane < fence.own.size(); ++lane) {
                std::uint32_t& known = published_[warp * isa::lanes + lane];
                known = std::max(known, warp == by ? fence.own[lane] : fence.seen[warp]);
            }
    }
    return published_.data();
}

}  // namespace wgrun::sim
