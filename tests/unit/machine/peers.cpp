// The shared memory of other CTAs of a cluster.
#include "machine/peers.hpp"

#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "wgrun/target.hpp"

using namespace wgrun;
using namespace wgrun::machine;

TEST_CASE("an address of the window is in a CTA of the cluster, or in none") {
    using Whose = SharedPlace::Whose;
    const std::uint32_t here = sm_90a.shared_base + 64;
    const auto check = [&](std::uint64_t address, Whose whose, std::uint32_t rank) {
        const SharedPlace place = locate(address, 1, 3);
        CHECK(place.whose == whose);
        CHECK(place.rank == rank);
        if (whose != Whose::nobodys) CHECK(place.address == here);
    };
    check(here, Whose::own, 1);
    check(isa::peer_address(here, 1), Whose::own, 1);
    check(isa::peer_address(here, 2), Whose::peer, 2);
    check(isa::peer_address(here, 3), Whose::nobodys, 3);
}

TEST_CASE("bytes and mbarrier of a multicast have the same offsets in each CTA") {
    isa::BulkCopy copy;
    copy.shared = sm_90a.shared_base + 1024;
    copy.mbarrier = sm_90a.shared_base + 8;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> visited;
    const auto visit = [&](std::uint64_t shared, std::uint64_t mbarrier) {
        visited.emplace_back(shared, mbarrier);
    };
    SECTION("one that names no CTA goes to the address as it is") {
        CHECK_FALSE(for_each_target(copy, 4, visit));
        CHECK(visited == std::vector{std::pair{std::uint64_t{copy.shared}, std::uint64_t{copy.mbarrier}}});
    }
    SECTION("one of several CTAs goes to each") {
        copy.multicast = 0b101;
        CHECK_FALSE(for_each_target(copy, 4, visit));
        REQUIRE(visited.size() == 2);
        for (const std::size_t i : {0U, 1U}) {
            const auto rank = static_cast<std::uint32_t>(2 * i);
            CHECK(visited[i].first == isa::peer_address(copy.shared, rank));
            CHECK(visited[i].second == isa::peer_address(copy.mbarrier, rank));
        }
    }
    SECTION("a rank that the cluster lacks ends it") {
        copy.multicast = 0b1101;
        CHECK(for_each_target(copy, 2, visit) == 2U);
        CHECK(visited.size() == 1);
    }
}
