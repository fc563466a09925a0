// Which writes to global memory fences publish, and to which threads.
#include "sim/global_fences.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using namespace wgrun::sim;

namespace {

constexpr Lanes all{UINT32_MAX, UINT32_MAX}, first_lane{1, UINT32_MAX}, second_lane{2, UINT32_MAX};

/// Returns which of `thread`'s writes the next bulk copy of a lane of the warp sees.
std::uint32_t seen_of(GlobalFences& fences, Clocks& clocks, int warp, int thread, int lane = 0) {
    return fences.published(clocks.of(warp, lane), warp, lane)[thread];
}

}  // namespace

TEST_CASE("a fence publishes what its warp did before it, and not what comes after") {
    Clocks clocks(2);
    GlobalFences fences(2);
    const std::uint32_t before = clocks.now(0);
    CHECK(seen_of(fences, clocks, 0, 3) == 0);
    fences.add(clocks, 0, all);
    CHECK(seen_of(fences, clocks, 0, 3) == before);
    CHECK(clocks.now(0) > before);
    fences.reset();
    CHECK(seen_of(fences, clocks, 0, 3) == 0);
}

TEST_CASE("a fence by some lanes is theirs, and of what the warp did before it converged") {
    Clocks clocks(1);
    GlobalFences fences(1);
    const std::uint32_t first = clocks.now(0);
    clocks.meet(0, all);
    const std::uint32_t second = clocks.now(0);
    fences.add(clocks, 0, first_lane);
    CHECK(seen_of(fences, clocks, 0, 0) == second);
    CHECK(seen_of(fences, clocks, 0, 1) == first);
    CHECK(seen_of(fences, clocks, 0, 0, 1) == 0);  // the second lane knows of no fence
    fences.add(clocks, 0, second_lane);
    CHECK(seen_of(fences, clocks, 0, 0) == second);
    CHECK(seen_of(fences, clocks, 0, 1) == first);
    CHECK(seen_of(fences, clocks, 0, 1, 1) > second);
    clocks.meet(0, all);
    CHECK(seen_of(fences, clocks, 0, 0) == second);
    CHECK(seen_of(fences, clocks, 0, 1) > second);
}

TEST_CASE("others see what a fence has published when they know of the fence") {
    Clocks clocks(3);
    GlobalFences fences(3);
    const int place = clocks.add_place(), other = clocks.add_place();
    const std::uint32_t written = clocks.now(0);
    const bool at_the_writer = GENERATE(true, false);
    if (at_the_writer) fences.add(clocks, 0, all);
    clocks.release(0, place, all);
    clocks.acquire(1, place, all);
    CHECK((seen_of(fences, clocks, 1, 5) >= written) == at_the_writer);
    // The reader's fence publishes the writes that the reader knows of.
    if (!at_the_writer) fences.add(clocks, 1, first_lane);
    CHECK(seen_of(fences, clocks, 1, 5) >= written);
    CHECK(seen_of(fences, clocks, 2, 5) == 0);
    clocks.release(1, other, all);
    clocks.acquire(2, other, all);
    CHECK(seen_of(fences, clocks, 2, 5) >= written);
}

TEST_CASE("a fence after the release is none for those who acquire it") {
    Clocks clocks(2);
    GlobalFences fences(2);
    const int place = clocks.add_place();
    clocks.release(0, place, all);
    fences.add(clocks, 0, all);
    clocks.acquire(1, place, all);
    CHECK(seen_of(fences, clocks, 1, 5) == 0);
}
