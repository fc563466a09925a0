// Loops over the lanes of a step.
#pragma once

#include <bit>
#include <cstddef>

#include "isa/warp.hpp"

namespace wgrun::machine {

/// Calls visit(lane) for the lanes of the mask, in order.
template <class Visit>
void for_each_lane(isa::Mask mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

/// The lanes among these whose address is `at`.
inline isa::Mask lanes_at(const isa::Addresses& address, isa::Mask among, std::uint64_t at) {
    isa::Mask out = 0;
    for_each_lane(among, [&](int lane) {
        if (address[static_cast<std::size_t>(lane)] == at) out |= isa::Mask{1} << lane;
    });
    return out;
}

}  // namespace wgrun::machine
