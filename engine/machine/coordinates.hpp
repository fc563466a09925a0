// The place of a warp in a launch, and its special registers (PTX ISA 10).
#pragma once

#include <cstdint>

#include "isa/special.hpp"
#include "wgrun/program.hpp"

namespace wgrun::machine {

/// The place of a CTA within its cluster.
constexpr Dim3 in_cluster(Dim3 cluster_size, std::uint32_t rank) {
    return {rank % cluster_size.x, rank / cluster_size.x % cluster_size.y,
            rank / cluster_size.x / cluster_size.y};
}

struct ThreadCoordinates {
    Dim3 grid{};             ///< CTAs
    Dim3 cluster_size{};     ///< CTAs
    Dim3 cluster{};          ///< the warp's cluster, in the grid of clusters
    std::uint32_t rank = 0;  ///< the rank of its CTA, in the cluster
    Dim3 block{};            ///< threads of a CTA
    std::uint32_t warp = 0;  ///< in the CTA

    std::uint32_t shared_bytes = 0;  ///< dynamic shared memory of a CTA
    std::uint64_t clock = 0;         ///< cycles

    /// The CTA's coordinates in the grid.
    constexpr Dim3 cta() const {
        const Dim3 at = in_cluster(cluster_size, rank);
        return {cluster.x * cluster_size.x + at.x, cluster.y * cluster_size.y + at.y,
                cluster.z * cluster_size.z + at.z};
    }
};

/// The value of a special register in a lane of that warp. Which multiprocessor a CTA runs on, and the time,
/// are the simulator's own choice.
std::uint64_t special(const ThreadCoordinates& coordinates, isa::Special which, int lane);

}  // namespace wgrun::machine
