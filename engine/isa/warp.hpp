// A warp is 32 lanes; a value for each of them.
#pragma once

#include <array>
#include <cstdint>

#include "wgrun/target.hpp"

namespace wgrun::isa {

inline constexpr int lanes = sm_90a.lanes;
using Mask = std::uint32_t;

using Addresses = std::array<std::uint64_t, lanes>;
using Counts = std::array<std::int64_t, lanes>;

}  // namespace wgrun::isa
