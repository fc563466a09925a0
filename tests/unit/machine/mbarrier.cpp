// The operations of an mbarrier object, and their results.
#include "machine/mbarrier.hpp"

#include "tests/catch.hpp"

using wgrun::machine::Mbarrier;
using wgrun::machine::Visible;
using Wait = Mbarrier::Wait;

namespace {

Mbarrier made(std::int64_t arrivals, int warps = 1) {
    Mbarrier out(16, 3);
    REQUIRE(out.init(arrivals, warps));
    return out;
}

}  // namespace

TEST_CASE("a phase turns when all arrivals have come, and not before") {
    Mbarrier mbarrier = made(3);
    CHECK(mbarrier.arrive(2));
    CHECK_FALSE(mbarrier.turn());
    CHECK_FALSE(mbarrier.is_complete(0));
    CHECK(mbarrier.is_complete(1));  // as the phase before the first
    CHECK(mbarrier.arrive(1));
    const auto turn = mbarrier.turn();
    REQUIRE(turn);
    CHECK(turn->phase == 0);
    CHECK(turn->in_flight == 0);
    CHECK(mbarrier.phase() == 1);
    CHECK(mbarrier.pending() == 3);
    CHECK(mbarrier.is_complete(0));
    CHECK_FALSE(mbarrier.is_complete(1));
    CHECK_FALSE(mbarrier.turn());
}

TEST_CASE("an arrival too many changes nothing") {
    Mbarrier mbarrier = made(2);
    CHECK_FALSE(mbarrier.arrive(3));
    CHECK(mbarrier.pending() == 2);
    CHECK(mbarrier.arrive(2));
    CHECK_FALSE(mbarrier.arrive(1));
    CHECK(mbarrier.turn());
    CHECK(mbarrier.arrive(1));
}

TEST_CASE("an object expects 1 to 2^20 - 1 arrivals") {
    for (const std::int64_t legal : {std::int64_t{1}, Mbarrier::most}) CHECK(Mbarrier(0).init(legal, 1));
    for (const std::int64_t illegal : {std::int64_t{0}, std::int64_t{-1}, Mbarrier::most + 1})
        CHECK_FALSE(Mbarrier(0).init(illegal, 1));
    Mbarrier full = made(Mbarrier::most);
    CHECK_FALSE(full.expect_arrival());
    CHECK(full.pending() == Mbarrier::most);
    Mbarrier one = made(1);
    CHECK(one.expect_arrival());
    CHECK(one.arrive(1));
    CHECK_FALSE(one.turn());
    CHECK(one.arrive(1));
    CHECK(one.turn());
    CHECK(one.pending() == 1);  // what was added belongs to that phase alone
}

TEST_CASE("bytes that come before they are expected count") {
    Mbarrier mbarrier = made(1);
    mbarrier.begin_copy(64);
    CHECK(mbarrier.land(64, 0).counts);
    CHECK(mbarrier.tx() == -64);
    CHECK(mbarrier.in_flight() == 0);
    CHECK_FALSE(mbarrier.turn());
    CHECK_FALSE(mbarrier.expect(64));
    CHECK_FALSE(mbarrier.turn());  // the arrival
    CHECK(mbarrier.arrive(1));
    const auto turn = mbarrier.turn();
    REQUIRE(turn);
    CHECK(turn->to_expect == 64);
    CHECK(turn->to_bring == 64);
}

TEST_CASE("a phase that turns without its copies says so, and they do not count for the next one") {
    Mbarrier mbarrier = made(1);
    mbarrier.begin_copy(128);
    CHECK(mbarrier.arrive(1));
    const auto turn = mbarrier.turn();
    REQUIRE(turn);
    CHECK(turn->in_flight == 128);
    CHECK(turn->to_expect == 0);
    CHECK(turn->to_bring == 128);
    CHECK(mbarrier.in_flight() == 0);
    CHECK_FALSE(mbarrier.land(128, 0).counts);
    CHECK(mbarrier.tx() == 0);
}

TEST_CASE("the tx-count stays within its limits, and says what it would have been") {
    Mbarrier mbarrier = made(1);
    CHECK_FALSE(mbarrier.expect(Mbarrier::most));
    CHECK(mbarrier.expect(1) == Mbarrier::most + 1);
    CHECK(mbarrier.tx() == Mbarrier::most);
    Mbarrier other = made(1);
    for (int i = 0; i < 2; ++i) other.begin_copy(Mbarrier::most);
    CHECK_FALSE(other.land(Mbarrier::most, 0).too_many);
    const auto landing = other.land(Mbarrier::most, 0);
    CHECK(landing.counts);
    CHECK(landing.too_many == -2 * Mbarrier::most);
    CHECK(other.tx() == -Mbarrier::most);
}

TEST_CASE("an object that has ended counts no copies, and begins anew") {
    Mbarrier mbarrier = made(1);
    mbarrier.begin_copy(32);
    CHECK(mbarrier.arrive(1));
    CHECK(mbarrier.turn());
    const std::uint32_t clock = mbarrier.clock();
    mbarrier.end();
    CHECK_FALSE(mbarrier.live());
    CHECK_FALSE(mbarrier.land(32, mbarrier.phase()).counts);
    CHECK(mbarrier.init(5, 2));
    CHECK(mbarrier.live());
    CHECK(mbarrier.phase() == 0);
    CHECK(mbarrier.expected() == 5);
    CHECK_FALSE(mbarrier.has_copied());
    CHECK(mbarrier.announced() == 0);
    CHECK(mbarrier.offset() == 16);
    CHECK(mbarrier.actor() == 3);
    // A warp that knew of the first life knows nothing of the second.
    CHECK(mbarrier.published(clock) == Visible::not_yet);
    CHECK(mbarrier.published(mbarrier.clock()) == Visible::to_generic);
}

TEST_CASE("who knows of the init and of the fence") {
    Mbarrier mbarrier = made(1);
    const std::uint32_t init = mbarrier.clock();
    CHECK(mbarrier.published(0) == Visible::not_yet);
    CHECK(mbarrier.published(init) == Visible::to_generic);
    CHECK(mbarrier.published(UINT32_MAX) == Visible::to_generic);
    const auto fence = mbarrier.announce(0, 1);
    REQUIRE(fence);
    CHECK(*fence > init);
    CHECK(mbarrier.published(init) == Visible::to_generic);
    CHECK(mbarrier.published(*fence) == Visible::to_async);
    CHECK_FALSE(mbarrier.announce(0, 1));  // the first fence has done so
}

TEST_CASE("a fence announces what its own lanes have initialised") {
    Mbarrier mbarrier(0, 1);
    CHECK(mbarrier.init(1, 4, {2, 5, 7, 11}));
    CHECK_FALSE(mbarrier.announce(3, ~0U));         // another warp
    CHECK_FALSE(mbarrier.announce(2, ~(1U << 5)));  // other lanes of the warp
    CHECK(mbarrier.announced() == 0);
    CHECK(mbarrier.announce(2, 1U << 5));
    CHECK(mbarrier.made().pc == 11);
    mbarrier.end();
    Mbarrier ended(0, 1);
    ended.init(1, 4, {2, 5, 7, 11});
    ended.end();
    CHECK_FALSE(ended.announce(2, 1U << 5));
}

TEST_CASE("a phase names the steps that belong to it") {
    Mbarrier mbarrier = made(1);
    CHECK_FALSE(mbarrier.expect(64, 20));
    mbarrier.begin_copy(64, 21);
    CHECK(mbarrier.arrive(1, 22));
    CHECK(mbarrier.land(64, 0).counts);
    const auto turn = mbarrier.turn();
    REQUIRE(turn);
    CHECK(turn->told_at == 20);
    CHECK(turn->copied_at == 21);
    CHECK(mbarrier.expected_at() == wgrun::machine::no_pc);
    CHECK(mbarrier.copied_at() == wgrun::machine::no_pc);
    CHECK(mbarrier.arrive(1, 23));
    const auto next = mbarrier.turn();
    REQUIRE(next);
    CHECK(next->told_at == 23);  // without an expectation, the last arrival
}

TEST_CASE("who has not waited for a phase is early for the next") {
    Mbarrier mbarrier = made(1);
    const std::uint32_t init = mbarrier.clock();
    CHECK_FALSE(mbarrier.is_early(init));
    CHECK(mbarrier.next() == init + 1);
    CHECK(mbarrier.arrive(1));
    CHECK(mbarrier.turn());
    CHECK(mbarrier.is_early(init));
    CHECK_FALSE(mbarrier.is_early(mbarrier.clock()));
    CHECK_FALSE(mbarrier.is_early(0));  // of who knows nothing, something else is said
}

TEST_CASE("what a wait is to a warp depends on what the warp knows") {
    Mbarrier mbarrier = made(1, 2);
    const std::uint32_t init = mbarrier.clock();
    CHECK(mbarrier.wait(0, 0, 0) == Wait::unknown);
    CHECK(mbarrier.wait(0, 0, init) == Wait::blocked);
    CHECK(mbarrier.wait(1, 0, init) == Wait::known);
    CHECK(mbarrier.wait(1, 0, init) == Wait::again);
    CHECK(mbarrier.wait(1, 1, init) == Wait::known);  // the other warp's first
    CHECK(mbarrier.arrive(1));
    CHECK(mbarrier.turn());
    const std::uint32_t first = mbarrier.clock();
    CHECK(mbarrier.wait(1, 0, init) == Wait::skipped);  // as if phase 1 were complete
    CHECK(mbarrier.wait(0, 0, init) == Wait::news);
    CHECK(mbarrier.wait(0, 0, first) == Wait::again);
    CHECK(mbarrier.wait(0, 1, first) == Wait::known);
    CHECK(mbarrier.wait(1, 0, first) == Wait::blocked);
    CHECK(mbarrier.arrive(1));
    CHECK(mbarrier.turn());
    // The warp is two phases behind: whichever it waits for, it has missed one.
    CHECK(mbarrier.wait(0, 0, init) == Wait::skipped);
    CHECK(mbarrier.wait(1, 0, init) == Wait::skipped);
    CHECK(mbarrier.wait(1, 0, first) == Wait::news);
}
