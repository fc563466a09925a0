// The values of special registers, and the CTA to which an address of shared memory belongs.
#include "machine/coordinates.hpp"

#include <algorithm>

#include "machine/peers.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using machine::locate;
using machine::ThreadCoordinates;
using Whose = machine::SharedPlace::Whose;

namespace {

/// The seat of warp 3 of CTA 5 of a cluster of 2 x 3 x 1, in the cluster at (1, 2, 3) of a grid of 4 x 9 x 5
/// CTAs.
const ThreadCoordinates coordinates{{4, 9, 5}, {2, 3, 1}, {1, 2, 3}, 5, {256, 1, 1}, 3, 4096, 1000};

std::uint64_t value(std::string_view name, int lane = 7) {
    const auto found = std::ranges::find(isa::special_names, name);
    REQUIRE(found != isa::special_names.end());
    return machine::special(coordinates, static_cast<isa::Special>(found - isa::special_names.begin()), lane);
}

}  // namespace

TEST_CASE("each special register by its name") {
    CHECK(value("tid.x") == 3 * 32 + 7);
    CHECK(value("tid.y") == 0);
    CHECK(value("tid.z") == 0);
    CHECK(value("ntid.x") == 256);
    CHECK(value("ntid.y") == 1);
    CHECK(value("ntid.z") == 1);
    CHECK(value("laneid") == 7);
    CHECK(value("ctaid.x") == 1 * 2 + 1);
    CHECK(value("ctaid.y") == 2 * 3 + 2);
    CHECK(value("ctaid.z") == 3);
    CHECK(value("nctaid.x") == 4);
    CHECK(value("nctaid.y") == 9);
    CHECK(value("nctaid.z") == 5);
    CHECK(value("clusterid.x") == 1);
    CHECK(value("clusterid.y") == 2);
    CHECK(value("clusterid.z") == 3);
    CHECK(value("nclusterid.x") == 2);
    CHECK(value("nclusterid.y") == 3);
    CHECK(value("nclusterid.z") == 5);
    CHECK(value("cluster_ctaid.x") == 1);
    CHECK(value("cluster_ctaid.y") == 2);
    CHECK(value("cluster_ctaid.z") == 0);
    CHECK(value("cluster_nctaid.x") == 2);
    CHECK(value("cluster_nctaid.y") == 3);
    CHECK(value("cluster_nctaid.z") == 1);
    CHECK(value("cluster_ctarank") == 5);
    CHECK(value("cluster_nctarank") == 6);
}

TEST_CASE("registers of a warp's lanes, of the chip, and clocks") {
    CHECK(value("warpid") == 3);
    CHECK(value("nwarpid") == 64);
    CHECK(value("lanemask_eq") == 0x80);
    CHECK(value("lanemask_lt") == 0x7F);
    CHECK(value("lanemask_le") == 0xFF);
    CHECK(value("lanemask_gt") == 0xFFFFFF00);
    CHECK(value("lanemask_ge") == 0xFFFFFF80);
    CHECK(value("lanemask_ge", 0) == 0xFFFFFFFF);
    CHECK(value("lanemask_gt", 31) == 0);
    CHECK(value("smid") == ((3 * 9 + 8) * 4 + 3) % 132);
    CHECK(value("nsmid") == 132);
    CHECK(value("dynamic_smem_size") == 4096);
    CHECK(value("is_explicit_cluster") == 1);
    CHECK(value("clock64") == 1000);
    CHECK(value("clock") == 1000);
    CHECK(value("clock_hi") == 0);
    CHECK(value("globaltimer") == 992);
}

TEST_CASE("threads of a CTA of three dimensions are numbered along x, then y, then z") {
    ThreadCoordinates other = coordinates;
    other.block = {10, 4, 3};
    for (int lane = 0; lane < 24; ++lane) {
        const std::uint64_t x = machine::special(other, isa::Special::tid_x, lane),
                            y = machine::special(other, isa::Special::tid_y, lane),
                            z = machine::special(other, isa::Special::tid_z, lane);
        CHECK((z * 4 + y) * 10 + x == 3 * 32 + static_cast<std::uint64_t>(lane));
        CHECK(x < 10);
        CHECK(y < 4);
    }
    CHECK(machine::special(other, isa::Special::ntid_y, 0) == 4);
    CHECK(machine::special(other, isa::Special::ntid_z, 0) == 3);
}

TEST_CASE("those of the grid are those that another grid, or another place in it, changes") {
    for (std::size_t i = 0; i < isa::special_names.size(); ++i) {
        const auto which = static_cast<isa::Special>(i);
        ThreadCoordinates other = coordinates;
        other.grid = {8, 27, 10};
        other.cluster = {0, 0, 0};
        INFO(isa::special_names[i]);
        CHECK(isa::is_of_grid(which) ==
              (machine::special(coordinates, which, 0) != machine::special(other, which, 0)));
    }
}

TEST_CASE("whose an address is") {
    const auto own = locate(0x440, 1, 2);
    CHECK(own.whose == Whose::own);
    CHECK(own.rank == 1);
    CHECK(own.address == 0x440);
    // Its own place by the cluster's window.
    const auto mapped = locate(isa::peer_address(0x440, 1), 1, 2);
    CHECK(mapped.whose == Whose::own);
    CHECK(mapped.address == 0x440);
    const auto peer = locate(isa::peer_address(0x440, 0), 1, 2);
    CHECK(peer.whose == Whose::peer);
    CHECK(peer.rank == 0);
    CHECK(peer.address == 0x440);
    const auto nobodys = locate(isa::peer_address(0x440, 2), 1, 2);
    CHECK(nobodys.whose == Whose::nobodys);
    CHECK(nobodys.rank == 2);
}
