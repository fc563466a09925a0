#include "sim/global_fences.hpp"

#include <algorithm>
#include <bit>

namespace wgrun::sim {

void GlobalFences::reset() {
    for (auto& fences : fences_) fences.clear();
}

namespace {

/// Returns how far some lane of the warp is known to have got.
std::uint32_t farthest(const KnownClocks& knows, std::size_t warp) {
    return std::max(knows.seen[warp], knows.parts != nullptr ? knows.parts[warp].clock : 0);
}

}  // namespace

void GlobalFences::add(Clocks& clocks, int warp, Lanes lanes) {
    auto& fences = fences_[static_cast<std::size_t>(warp)];
    const KnownClocks knows = clocks.of(warp, std::countr_zero(lanes.some));
    const SomeLanes own = knows.parts != nullptr ? knows.parts[warp] : SomeLanes();
    Fence fence{clocks.now(warp), {}, {}};
    for (std::size_t w = 0; w < fences_.size(); ++w) fence.seen.push_back(farthest(knows, w));
    if (!fences.empty()) fence.own = fences.back().own;
    for (int lane = 0; lane < isa::lanes; ++lane) {
        const bool by_itself = lanes.whole() || (lanes.some >> lane & 1U) != 0;
        const std::uint32_t of_others = own.has(lane) ? std::max(own.clock, knows.met) : knows.met;
        std::uint32_t& published = fence.own[static_cast<std::size_t>(lane)];
        published = std::max(published, by_itself ? fence.clock : of_others);
    }
    fences.push_back(std::move(fence));
    clocks.tick(warp);
}

const std::uint32_t* GlobalFences::published(const KnownClocks& knows) {
    const std::size_t warps = fences_.size();
    published_.assign(warps * isa::lanes, 0U);
    for (std::size_t by = 0; by < warps; ++by) {
        const auto& fences = fences_[by];
        // The last fence that is known covers those before it.
        const auto end = std::ranges::upper_bound(fences, farthest(knows, by), {}, &Fence::clock);
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
