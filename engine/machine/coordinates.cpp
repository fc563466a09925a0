#include "machine/coordinates.hpp"

namespace wgrun::machine {

std::uint64_t special(const ThreadCoordinates& coordinates, isa::Special which, int lane) {
    using enum isa::Special;
    const Dim3 &grid = coordinates.grid, &size = coordinates.cluster_size;
    const std::uint32_t thread = coordinates.warp * sm_90a.lanes + static_cast<std::uint32_t>(lane);
    const std::uint64_t below = (std::uint64_t{1} << lane) - 1, own = std::uint64_t{1} << lane;
    constexpr std::uint64_t nanoseconds_of_a_tick = 32, all = UINT32_MAX;
    const std::uint64_t time = coordinates.clock / nanoseconds_of_a_tick * nanoseconds_of_a_tick;
    switch (which) {
        // Threads are numbered along x first, then along y and z (PTX ISA 10.1).
        case tid_x: return in_cluster(coordinates.block, thread).x;
        case tid_y: return in_cluster(coordinates.block, thread).y;
        case tid_z: return in_cluster(coordinates.block, thread).z;
        case ntid_x: return coordinates.block.x;
        case ntid_y: return coordinates.block.y;
        case ntid_z: return coordinates.block.z;
        case ctaid_x: return coordinates.cta().x;
        case ctaid_y: return coordinates.cta().y;
        case ctaid_z: return coordinates.cta().z;
        case nctaid_x: return grid.x;
        case nctaid_y: return grid.y;
        case nctaid_z: return grid.z;
        case laneid: return static_cast<std::uint32_t>(lane);
        case clusterid_x: return coordinates.cluster.x;
        case clusterid_y: return coordinates.cluster.y;
        case clusterid_z: return coordinates.cluster.z;
        case nclusterid_x: return grid.x / size.x;
        case nclusterid_y: return grid.y / size.y;
        case nclusterid_z: return grid.z / size.z;
        case cluster_ctaid_x: return in_cluster(size, coordinates.rank).x;
        case cluster_ctaid_y: return in_cluster(size, coordinates.rank).y;
        case cluster_ctaid_z: return in_cluster(size, coordinates.rank).z;
        case cluster_nctaid_x: return size.x;
        case cluster_nctaid_y: return size.y;
        case cluster_nctaid_z: return size.z;
        case cluster_ctarank: return coordinates.rank;
        case cluster_nctarank: return static_cast<std::uint32_t>(size.volume());
        case warpid: return coordinates.warp;
        case nwarpid: return static_cast<std::uint64_t>(sm_90a.sm_warps());
        case lanemask_eq: return own;
        case lanemask_le: return own | below;
        case lanemask_lt: return below;
        case lanemask_ge: return all & ~below;
        case lanemask_gt: return all & ~(own | below);
        case smid: {
            const Dim3 at = coordinates.cta();
            const std::uint64_t number = (std::uint64_t{at.z} * grid.y + at.y) * grid.x + at.x;
            return number % static_cast<std::uint64_t>(sm_90a.multiprocessors);
        }
        case nsmid: return static_cast<std::uint64_t>(sm_90a.multiprocessors);
        case total_smem_size:
        case dynamic_smem_size: return coordinates.shared_bytes;
        case gridid: return 1;
        case is_explicit_cluster: return size.volume() > 1 ? 1 : 0;
        case clock: return coordinates.clock & all;
        case clock_hi: return coordinates.clock >> 32;
        case clock64: return coordinates.clock;
        case globaltimer: return time;
        case globaltimer_lo: return time & all;
        case globaltimer_hi: return time >> 32;
    }
    return 0;
}

}  // namespace wgrun::machine
