// The state of an mbarrier that an arrival returns: opaque in PTX, here the phase and its pending arrivals.
#pragma once

#include <cstdint>

#include "isa/warp.hpp"

namespace wgrun::isa {

using Tokens = PerLane<std::uint64_t>;

/// Returns the state of an object in phase `phase`, in which `pending` arrivals were outstanding.
constexpr std::uint64_t token(std::uint32_t phase, std::int64_t pending) {
    return std::uint64_t{phase} << 32 | static_cast<std::uint32_t>(pending);
}
/// Returns the parity of the phase.
constexpr std::int64_t parity_of(std::uint64_t token) { return static_cast<std::int64_t>(token >> 32 & 1); }
/// Returns the arrivals that were outstanding.
constexpr std::uint32_t pending_of(std::uint64_t token) { return static_cast<std::uint32_t>(token); }

}  // namespace wgrun::isa
