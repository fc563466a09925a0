// Which warps arrive at barriers of the CTA and of the cluster, and when these are complete.
#include "machine/barriers.hpp"

#include "tests/catch.hpp"

using namespace wgrun::machine;
using Arrival = NamedBarriers::Arrival;
using Wait = ClusterBarrier::Wait;

TEST_CASE("a barrier lets those go who wait, when as many have come as it counts") {
    NamedBarriers barriers(4);
    CHECK(barriers.arrive(1, 0, 96, true, 7) == Arrival::counted);
    CHECK(barriers.arrive(1, 2, 96, false, 8) == Arrival::counted);
    CHECK_FALSE(barriers.complete(1));
    CHECK(barriers.arrived(1) == 64);
    CHECK(barriers.expected(1) == 96);
    CHECK(barriers.first(1) == 7);
    CHECK(barriers.arrive(1, 3, 96, true, 9) == Arrival::counted);
    CHECK(barriers.complete(1) == 0b1001U);
    CHECK_FALSE(barriers.complete(1));
    CHECK(barriers.arrived(1) == 0);
    // It begins anew, with another number if need be.
    CHECK(barriers.arrive(1, 0, 32, true, 7) == Arrival::counted);
    CHECK(barriers.complete(1) == 0b0001U);
}

TEST_CASE("what cannot be counted changes nothing") {
    NamedBarriers barriers(2);
    CHECK(barriers.arrive(16, 0, 64, true, 0) == Arrival::illegal);
    CHECK(barriers.arrive(0, 0, 48, true, 0) == Arrival::illegal);
    CHECK(barriers.arrive(0, 0, 96, true, 0) == Arrival::too_large);
    CHECK_FALSE(barriers.complete(0));
    CHECK(barriers.arrived(0) == 0);
}

TEST_CASE("arrivals are counted, and not warps") {
    NamedBarriers barriers(2);
    CHECK(barriers.arrive(0, 0, 64, false, 0) == Arrival::counted);
    CHECK_FALSE(barriers.complete(0));
    CHECK(barriers.arrive(0, 0, 64, true, 0) == Arrival::counted);
    CHECK(barriers.arrived(0) == 64);
    CHECK(barriers.complete(0) == 0b01U);
    CHECK(barriers.arrived(0) == 0);
}

TEST_CASE("who gives another number than others is counted with theirs") {
    NamedBarriers barriers(4);
    CHECK(barriers.arrive(0, 0, 64, true, 0) == Arrival::counted);
    CHECK(barriers.arrive(0, 1, 128, true, 0) == Arrival::counted_otherwise);
    CHECK(barriers.complete(0) == 0b0011U);
    // Without a number, the barrier is for all threads.
    CHECK(barriers.arrive(0, 0, 0, true, 0) == Arrival::counted);
    CHECK(barriers.arrive(0, 1, 128, true, 0) == Arrival::counted);
    CHECK(barriers.arrive(0, 2, 64, true, 0) == Arrival::counted_otherwise);
    CHECK_FALSE(barriers.complete(0));
}

TEST_CASE("a barrier for all does not wait for warps that have ended") {
    NamedBarriers barriers(3);
    CHECK(barriers.arrive(0, 0, 0, true, 0) == Arrival::counted);
    CHECK(barriers.arrive(0, 1, 0, true, 0) == Arrival::counted);
    CHECK_FALSE(barriers.complete(0));
    barriers.end(2);
    CHECK(barriers.expected(0) == 64);
    CHECK(barriers.complete(0) == 0b011U);
    // Nor does it the next time.
    CHECK(barriers.arrive(0, 0, 0, true, 0) == Arrival::counted);
    CHECK_FALSE(barriers.complete(0));
    CHECK(barriers.arrive(0, 1, 0, true, 0) == Arrival::counted);
    CHECK(barriers.complete(0) == 0b011U);
}

TEST_CASE("a barrier with a number waits for that many, whoever has ended") {
    NamedBarriers barriers(2);
    CHECK(barriers.arrive(0, 0, 64, true, 0) == Arrival::counted);
    barriers.end(1);
    CHECK_FALSE(barriers.complete(0));
    CHECK(barriers.expected(0) == 64);
}

TEST_CASE("who arrives without waiting and ends is counted once") {
    NamedBarriers barriers(3);
    CHECK(barriers.arrive(0, 0, 0, false, 0) == Arrival::counted);
    barriers.end(0);
    CHECK(barriers.arrive(0, 1, 0, true, 0) == Arrival::counted);
    CHECK_FALSE(barriers.complete(0));
    CHECK(barriers.arrive(0, 2, 0, true, 0) == Arrival::counted);
    CHECK(barriers.complete(0) == 0b110U);
    // A barrier at which no warp has arrived is not complete when all have ended.
    barriers.end(1);
    barriers.end(2);
    CHECK_FALSE(barriers.complete(0));
}

TEST_CASE("a CTA of 32 warps fits") {
    NamedBarriers barriers(32);
    for (int w = 0; w < 31; ++w) CHECK(barriers.arrive(15, w, 1024, true, 0) == Arrival::counted);
    CHECK_FALSE(barriers.complete(15));
    CHECK(barriers.arrive(15, 31, 0, true, 0) == Arrival::counted);
    CHECK(barriers.complete(15) == UINT32_MAX);
}

TEST_CASE("warps of a cluster arrive and wait in turn") {
    ClusterBarrier barrier;
    barrier.reset(2);
    CHECK(barrier.wait(0) == Wait::not_arrived);
    CHECK(barrier.arrive(0));
    CHECK(barrier.arrived() == 1);
    CHECK_FALSE(barrier.arrive(0));
    CHECK(barrier.arrived() == 1);
    CHECK(barrier.wait(0) == Wait::blocked);
    CHECK_FALSE(barrier.turn());
    CHECK(barrier.arrive(1));
    CHECK(barrier.turn());
    CHECK_FALSE(barrier.turn());
    CHECK(barrier.wait(0) == Wait::passes);
    CHECK(barrier.wait(0) == Wait::not_arrived);
    // The next phase, of which warp 1 has not even begun.
    CHECK(barrier.arrive(0));
    CHECK_FALSE(barrier.arrive(1));
    CHECK(barrier.wait(1) == Wait::passes);
    CHECK(barrier.wait(0) == Wait::blocked);
    CHECK(barrier.arrive(1));
    CHECK(barrier.turn());
}

TEST_CASE("warps that have ended count as arrived at the barrier of the cluster") {
    ClusterBarrier barrier;
    barrier.reset(3);
    barrier.end(2);
    CHECK_FALSE(barrier.turn());
    CHECK(barrier.arrive(0));
    CHECK_FALSE(barrier.turn());
    CHECK(barrier.arrive(1));
    barrier.end(1);  // once
    CHECK(barrier.turn());
    CHECK(barrier.wait(0) == Wait::passes);
    CHECK(barrier.arrive(0));
    CHECK(barrier.turn());
    barrier.end(0);
    CHECK_FALSE(barrier.turn());  // nobody has arrived
}
