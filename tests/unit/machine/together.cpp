// What the warps of a warpgroup execute together, whatever the order in which they come.
#include "machine/together.hpp"

#include "tests/catch.hpp"

using wgrun::machine::Together;

TEST_CASE("warps that execute the same steps are together, in any order") {
    Together group;
    for (int warp : {2, 0, 3, 1})
        for (std::uint32_t pc : {4U, 5U, 9U, 4U}) CHECK_FALSE(group.step(warp, pc));
    for (int warp = 0; warp < Together::warps; ++warp) CHECK_FALSE(group.end(warp));
}

TEST_CASE("a warp that executes another step is apart from those before it") {
    Together group;
    CHECK_FALSE(group.step(3, 4));
    CHECK_FALSE(group.step(3, 5));
    CHECK_FALSE(group.step(1, 4));
    const auto apart = group.step(1, 7);
    REQUIRE(apart);
    CHECK(apart->pc == 7);
    CHECK(apart->theirs == 5);
    CHECK(apart->other == 3);
}

TEST_CASE("a warp that ends is apart from those that go on, whichever comes first") {
    SECTION("it ends later") {
        Together group;
        group.step(0, 4);
        const auto apart = group.end(2);
        REQUIRE(apart);
        CHECK(apart->pc == 4);
        CHECK(apart->theirs == 4);
        CHECK(apart->other == 2);
    }
    SECTION("it ends first") {
        Together group;
        CHECK_FALSE(group.end(2));
        const auto apart = group.step(0, 4);
        REQUIRE(apart);
        CHECK(apart->pc == 4);
        CHECK(apart->other == 2);
    }
    SECTION("after a thousand steps of all") {
        Together group;
        for (std::uint32_t pc = 0; pc < 1000; ++pc)
            for (int warp = 0; warp < Together::warps; ++warp) CHECK_FALSE(group.step(warp, pc % 7));
        CHECK_FALSE(group.step(0, 1));
        CHECK_FALSE(group.step(1, 1));
        CHECK(group.end(3)->pc == 1);
    }
}
