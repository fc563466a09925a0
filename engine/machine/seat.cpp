#include "machine/seat.hpp"

namespace wgrun::machine {

std::uint32_t special(const Seat& seat, isa::Special which, int lane) {
    using enum isa::Special;
    const Dim3 &grid = seat.grid, &size = seat.cluster_size;
    switch (which) {
        case tid_x: return seat.warp * sm_90a.lanes + static_cast<std::uint32_t>(lane);
        case tid_y:
        case tid_z: return 0;
        case ntid_x: return seat.threads;
        case ntid_y:
        case ntid_z: return 1;
        case ctaid_x: return seat.cta().x;
        case ctaid_y: return seat.cta().y;
        case ctaid_z: return seat.cta().z;
        case nctaid_x: return grid.x;
        case nctaid_y: return grid.y;
        case nctaid_z: return grid.z;
        case laneid: return static_cast<std::uint32_t>(lane);
        case clusterid_x: return seat.cluster.x;
        case clusterid_y: return seat.cluster.y;
        case clusterid_z: return seat.cluster.z;
        case nclusterid_x: return grid.x / size.x;
        case nclusterid_y: return grid.y / size.y;
        case nclusterid_z: return grid.z / size.z;
        case cluster_ctaid_x: return in_cluster(size, seat.rank).x;
        case cluster_ctaid_y: return in_cluster(size, seat.rank).y;
        case cluster_ctaid_z: return in_cluster(size, seat.rank).z;
        case cluster_nctaid_x: return size.x;
        case cluster_nctaid_y: return size.y;
        case cluster_nctaid_z: return size.z;
        case cluster_ctarank: return seat.rank;
        case cluster_nctarank: return static_cast<std::uint32_t>(size.volume());
    }
    return 0;
}

}  // namespace wgrun::machine
