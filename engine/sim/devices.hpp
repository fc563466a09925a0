// The devices of a launch: its grid runs on each of them, at the same time and with arguments of its own.
#pragma once

#include <cstdint>

namespace wgrun::sim {

/// Clusters are numbered through all devices, in turn: the first of each, then the second of each.
struct Devices {
    std::uint32_t count = 1;

    /// Returns the device of a cluster.
    std::uint32_t of(std::uint64_t cluster) const { return static_cast<std::uint32_t>(cluster % count); }
    /// Returns the number that a cluster has in its device's grid.
    std::uint64_t in_grid(std::uint64_t cluster) const { return cluster / count; }
    std::uint64_t number(std::uint32_t device, std::uint64_t in_grid) const {
        return in_grid * count + device;
    }
};

}  // namespace wgrun::sim
