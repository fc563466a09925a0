// Strong accesses: the order that they make, and warps that poll memory until it changes.
#include <algorithm>
#include <bit>
#include <utility>

#include "machine/lanes.hpp"
#include "machine/peers.hpp"
#include "sim/accesses.hpp"

namespace wgrun::sim {

// Returns a name for the place that does not depend on how it is addressed.
std::uint64_t Accesses::location(isa::Space space, std::uint64_t address) const {
    if (space == isa::Space::global) {
        const std::uint64_t at = scene_.global_shadow.watched(address);
        return at != 0 ? at : address;
    }
    constexpr std::uint64_t shared = std::uint64_t{1} << 63;
    const auto place =
        machine::locate(address, static_cast<std::uint32_t>(scene_.rank(*scene_.cta)), scene_.ctas.size());
    return shared | (std::uint64_t{place.rank} + 1) << 32 | (place.address & isa::peer_window);
}

void Accesses::strong_read(isa::Space space, const isa::Addresses& address) {
    if (!scene_.launch.detect_races) return;
    const isa::MemoryOrder& order = scene_.code.ops[scene_.pc].order;
    for (isa::Mask left = scene_.active, same = 0; left != 0; left &= ~same) {
        const std::uint64_t at = address[static_cast<std::size_t>(std::countr_zero(left))];
        same = machine::lanes_at(address, left, at);
        release_acquire_.read(scene_.current, scene_.lanes(same), location(space, at), order);
    }
}

void Accesses::strong_write(isa::Space space, const isa::Addresses& address, bool combines) {
    if (!scene_.launch.detect_races) return;
    const isa::MemoryOrder& order = scene_.code.ops[scene_.pc].order;
    for (isa::Mask left = scene_.active, same = 0; left != 0; left &= ~same) {
        const std::uint64_t at = address[static_cast<std::size_t>(std::countr_zero(left))];
        same = machine::lanes_at(address, left, at);
        release_acquire_.write(scene_.current, scene_.lanes(same), location(space, at), order, combines);
    }
}

// Whoever acquires knows what the release that it reads left behind. If it comes late, releases that it does
// not wait for hide what it should have waited for. So all others run, as far as they can, before a warp
// releases, and those that poll look at once afterwards. Returns whether the step is to be executed later.
bool Accesses::put_off(isa::Space space) {
    const isa::MemoryOrder& order = scene_.code.ops[scene_.pc].order;
    if (!order.strong || !scene_.launch.detect_races) return false;
    if (!release_acquire_.releases(scene_.current, order)) return false;
    Warp& warp = scene_.warp();
    const bool widely =
        (space == isa::Space::global || space == isa::Space::generic) && order.scope >= isa::Scope::gpu;
    if (std::exchange(warp.put_off, false)) {
        if (scene_.pollers || (widely && scene_.turns.waited_for())) scene_.stand_back(widely);
        return false;
    }
    warp.put_off = scene_.put_off = true;
    scene_.stand_back(widely);
    return true;
}

void Accesses::fence(const isa::MemoryOrder& order) {
    if (scene_.launch.detect_races) release_acquire_.fence(scene_.current, scene_.active_lanes(), order);
}

// A warp that finds the same as last time, and has done nothing to memory since, sleeps until memory changes.
// Then it executes the step again, as often as necessary.
void Accesses::poll(isa::Space space, std::uint64_t digest) {
    Warp& warp = scene_.warp();
    const Warp::Poll now{scene_.pc, space == isa::Space::global, digest};
    if (warp.polled != now) {
        warp.polled = now;
        // One that tells other warps what it has found, and looks again and again, lets other clusters go on.
        // One that looks twice may have passed the first time.
        constexpr std::uint32_t patience = 16;
        if (!now.global) return;
        warp.looks = std::exchange(warp.looked, now) == now ? warp.looks + 1 : 0;
        if (warp.looks < patience) return;
        warp.looks = 0;
        scene_.stand_back(true);
        return;
    }
    if (warp.give_up) {
        warp.give_up = false;
        return;
    }
    scene_.pollers = true;
    scene_.sleep(Warp::Wait::memory);
}

bool Accesses::polls_global() const {
    return std::ranges::any_of(scene_.warps, [](const Warp& warp) {
        return warp.state == Warp::State::asleep && warp.wait == Warp::Wait::memory && warp.polled.global;
    });
}

GlobalTrace Accesses::global_trace() const {
    GlobalTrace out = scene_.global_shadow.trace(scene_.code.clusters_alike);
    if (!release_acquire_.learned().empty())
        out.learned = std::make_shared<const Learned>(release_acquire_.learned());
    return out;
}

}  // namespace wgrun::sim
