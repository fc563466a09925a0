#include "sim/dependents.hpp"

#include <algorithm>
#include <bit>

#include "sim/overlap.hpp"
#include "sim/scene.hpp"

namespace wgrun::sim {

void Dependents::reset() {
    waits_.clear();
    launched_.assign(scene_.ctas.size(), false);
}

bool Dependents::waited(int lane) const {
    const KnownClocks known = scene_.clocks.of(scene_.current, lane);
    return std::ranges::any_of(waits_, [&](const Wait& wait) {
        const auto warp = static_cast<std::size_t>(wait.warp);
        if (wait.warp == scene_.current && (wait.lanes >> lane & 1U) != 0) return true;
        if (wait.warp == scene_.current) return known.met >= wait.clock;
        if (known.seen[warp] >= wait.clock) return true;
        return known.parts != nullptr && (known.parts[warp].lanes & wait.lanes) != 0 &&
               known.parts[warp].clock >= wait.clock;
    });
}

// The next launch may begin when all CTAs have come here; which of them is the last is not known.
void Dependents::launch_dependents() {
    if (!watches()) return;
    launched_[static_cast<std::size_t>(scene_.rank(*scene_.cta))] = true;
    if (!overlap_->before.empty() && !waited(std::countr_zero(scene_.active))) overlap_->early = true;
}

void Dependents::wait_for_grids() {
    if (!watches()) return;
    waits_.push_back({scene_.current, scene_.clocks.now(scene_.current), scene_.active});
    scene_.clocks.tick(scene_.current);
}

void Dependents::access(bool write, int lane, const std::byte* place, std::uint64_t address,
                        std::uint64_t bytes) {
    // No wait orders what goes through the read-only cache.
    const bool constant = scene_.code.ops[scene_.pc].constant;
    if (!overlap_->before.empty() && (constant || !waited(lane)))
        for (const auto& launch : overlap_->before)
            if (const std::optional<Touched::Step> other = launch->meets(write, place, bytes)) {
                scene_.report.lane(scene_.thread(lane));
                const std::string at = scene_.global.place(address);
                if (constant)
                    scene_.report.stale_launch_before(at, other->where, launch->kernel());
                else
                    scene_.report.launch_before(write, at, *other, launch->kernel());
            }
    if (overlap_->touched != nullptr &&
        (write || launched_[static_cast<std::size_t>(scene_.rank(*scene_.cta))]))
        overlap_->touched->add(write, place, bytes, scene_.code.where(scene_.pc));
}

}  // namespace wgrun::sim
