// A warp has 32 lanes; here is a value for each of them.
#pragma once

#include <array>
#include <cstdint>

#include "wgrun/target.hpp"

namespace wgrun::isa {

inline constexpr int lanes = sm_90a.lanes;
inline constexpr int warps_of_group = sm_90a.warpgroup / lanes;
using Mask = std::uint32_t;

/// A value for each lane, and the lanes whose value is known: all, except in an abstract execution.
template <class T>
struct PerLane : std::array<T, lanes> {
    Mask known = ~Mask{0};
    bool knows(std::size_t lane) const { return (known >> lane & 1U) != 0; }
};
using Addresses = PerLane<std::uint64_t>;
using Counts = PerLane<std::int64_t>;

}  // namespace wgrun::isa
