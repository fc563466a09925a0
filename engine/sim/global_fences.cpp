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

/// Returns the lanes of warp `by` of which a lane of `warp` knows what they did at that clock.
isa::Mask knowing(const KnownClocks& knows, std::size_t by, int warp, int lane, std::uint32_t clock) {
    const bool own = by == static_cast<std::size_t>(warp);
    if (clock <= (own ? knows.met : knows.seen[by])) return ~isa::Mask{0};
    const SomeLanes part = knows.parts != nullptr ? knows.parts[by] : SomeLanes();
    return (own ? isa::Mask{1} << lane : isa::Mask{0}) | (clock <= part.clock ? part.lanes : isa::Mask{0});
}

}  // namespace

GlobalFences::Fence GlobalFences::made(Clocks& clocks, int warp, Lanes lanes) {
    const KnownClocks knows = clocks.of(warp, std::countr_zero(lanes.some));
    const SomeLanes own = knows.parts != nullptr ? knows.parts[warp] : SomeLanes();
    Fence fence{clocks.now(warp), lanes.some, lanes.some, {}, {}};
    for (int w = 0; w < clocks.warps(); ++w)
        fence.seen.push_back(farthest(knows, static_cast<std::size_t>(w)));
    for (int lane = 0; lane < isa::lanes; ++lane) {
        const bool by_itself = lanes.whole() || (lanes.some >> lane & 1U) != 0;
        const std::uint32_t of_others = own.has(lane) ? std::max(own.clock, knows.met) : knows.met;
        fence.own[static_cast<std::size_t>(lane)] = by_itself ? fence.clock : of_others;
    }
    clocks.tick(warp);
    return fence;
}

const GlobalFences::Fence& GlobalFences::add(Clocks& clocks, int warp, Lanes lanes) {
    auto& fences = fences_[static_cast<std::size_t>(warp)];
    Fence fence = made(clocks, warp, lanes);
    if (!fences.empty()) fence.so_far |= fences.back().so_far;
    return fences.emplace_back(std::move(fence));
}

const std::uint32_t* GlobalFences::published(const KnownClocks& knows, int warp, int lane) {
    const std::size_t warps = fences_.size();
    published_.assign(warps * isa::lanes, 0U);
    for (std::size_t by = 0; by < warps; ++by) {
        const auto& fences = fences_[by];
        // Of the fences of a lane, the last one that is known covers those before it.
        const auto end = std::ranges::upper_bound(fences, farthest(knows, by), {}, &Fence::clock);
        isa::Mask covered = 0;
        for (auto fence = end; fence != fences.begin();) {
            --fence;
            if ((fence->so_far & ~covered) == 0) break;
            const isa::Mask known = fence->lanes & ~covered & knowing(knows, by, warp, lane, fence->clock);
            if (known == 0) continue;
            covered |= known;
            for (std::size_t w = 0; w < warps; ++w)
                for (std::size_t l = 0; l < fence->own.size(); ++l) {
                    std::uint32_t& sees = published_[w * isa::lanes + l];
                    sees = std::max(sees, w == by ? fence->own[l] : fence->seen[w]);
                }
        }
    }
    return published_.data();
}

}  // namespace wgrun::sim
