// Two accesses of clusters of a launch to global memory of which something is wrong.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/shadow.hpp"

namespace wgrun::sim {

/// What is wrong with two accesses, of which at least one is a write.
enum class Wrong : std::uint8_t {
    unordered,
    unfenced,  ///< a bulk copy comes after an access through the generic proxy, with no fence.proxy.async
    stale,     ///< one of them reads through ld.global.nc
};

/// One of the two.
struct Side {
    std::uint32_t cluster;
    bool writes;
    Epoch by;
};

/// Of unfenced accesses the bulk copy is `access`. Of an unordered read and a write, `access` is the read,
/// which should have waited, or the write, if it overwrites what the read has waited for.
struct Conflict {
    Wrong wrong;
    std::uint64_t address;
    Side access, other;

    bool of_same_steps(const Conflict& with) const {
        const auto steps = [](const Conflict& one) {
            return std::minmax({one.access.by.pc(), one.other.by.pc()});
        };
        return steps(*this) == steps(with);
    }
};

}  // namespace wgrun::sim
