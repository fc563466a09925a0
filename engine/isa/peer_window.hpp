// Addresses of the shared memory of a cluster's CTAs: mapa gives each CTA a window of its own, above the
// window in which a CTA sees its own memory.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wgrun::isa {

inline constexpr int peer_bits = 24;  ///< of an address, within a window
inline constexpr std::uint32_t peer_window = (1U << peer_bits) - 1;

/// Returns the window of the address: 0 for the executing CTA's own window, rank + 1 for that of a CTA of the
/// cluster.
constexpr std::uint64_t window_of(std::uint64_t address) { return address >> peer_bits; }

/// Returns the address, for the cluster, of `address` in the CTA of that rank. A rank that no cluster has
/// remains one.
constexpr std::uint32_t peer_address(std::uint32_t address, std::uint32_t rank) {
    constexpr std::uint32_t farthest = (1U << (32 - peer_bits)) - 1;
    return (std::min(rank, farthest - 1) + 1) << peer_bits | (address & peer_window);
}

}  // namespace wgrun::isa
