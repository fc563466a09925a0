// Strong accesses: the order that they make, and warps that poll memory until it changes.
#include <algorithm>
#include <bit>

#include "sim/cluster.hpp"

namespace wgrun::sim {

// Returns a name for the place that does not depend on how it is addressed.
std::uint64_t Cluster::location(isa::Space space, std::uint64_t address) const {
    if (space == isa::Space::global) {
        const std::uint64_t at = global_shadow_.watched(address);
        return at != 0 ? at : address;
    }
    constexpr std::uint64_t shared = std::uint64_t{1} << 63;
    const auto place = machine::locate(address, static_cast<std::uint32_t>(rank(*cta_)), ctas_.size());
    return shared | (std::uint64_t{place.rank} + 1) << 32 | (place.address & isa::peer_window);
}

void Cluster::strong_read(isa::Space space, const isa::Addresses& address) {
    if (!launch_.detect_races) return;
    const isa::MemoryOrder& order = code_.ops[pc_].order;
    if (space == isa::Space::global && order.scope >= isa::Scope::gpu) global_shadow_.strong(pc_);
    for (isa::Mask left = active_, same = 0; left != 0; left &= ~same) {
        const std::uint64_t at = address[static_cast<std::size_t>(std::countr_zero(left))];
        same = lanes_at(address, left, at);
        handoffs_.read(current_, {same, warp().all}, location(space, at), order);
    }
}

void Cluster::strong_write(isa::Space space, const isa::Addresses& address, bool combines) {
    if (!launch_.detect_races) return;
    const isa::MemoryOrder& order = code_.ops[pc_].order;
    if (space == isa::Space::global && order.scope >= isa::Scope::gpu) global_shadow_.strong(pc_);
    for (isa::Mask left = active_, same = 0; left != 0; left &= ~same) {
        const std::uint64_t at = address[static_cast<std::size_t>(std::countr_zero(left))];
        same = lanes_at(address, left, at);
        handoffs_.write(current_, {same, warp().all}, location(space, at), order, combines);
    }
}

void Cluster::fence(const isa::MemoryOrder& order) {
    if (launch_.detect_races) handoffs_.fence(current_, active_lanes(), order);
}

// A warp that finds the same as last time, and has done nothing to memory since, sleeps until memory changes.
// Then it executes the step again, as often as necessary.
void Cluster::poll(isa::Space space, std::uint64_t digest) {
    Warp& warp = this->warp();
    const Warp::Poll now{pc_, space == isa::Space::global, digest};
    if (warp.polled != now) {
        warp.polled = now;
        return;
    }
    if (warp.give_up) {
        warp.give_up = false;
        return;
    }
    pollers_ = true;
    sleep(Warp::Wait::memory);
}

bool Cluster::polls_global() const {
    return std::ranges::any_of(warps_, [](const Warp& warp) {
        return warp.state == Warp::State::asleep && warp.wait == Warp::Wait::memory && warp.polled.global;
    });
}

void Cluster::wake_pollers() {
    pollers_ = false;
    wake(nullptr, Warp::Wait::memory, [](const Warp&) { return true; });
}

GlobalTrace Cluster::global_trace() const {
    GlobalTrace out = global_shadow_.trace();
    out.meetings = handoffs_.beyond_cluster();
    return out;
}

}  // namespace wgrun::sim
