// Counts in messages.
#include "wgrun/count_of.hpp"

#include <cstdint>

#include "tests/catch.hpp"

using wgrun::count_of;
using wgrun::part_of;

TEST_CASE("one thing is named in the singular") {
    CHECK(count_of(1, "step") == "1 step");
    CHECK(count_of(0, "step") == "0 steps");
    CHECK(count_of(std::uint64_t{2}, "step") == "2 steps");
    CHECK(count_of(-1, "byte") == "-1 bytes");
    CHECK(count_of(1, "launch", "launches") == "1 launch");
    CHECK(count_of(std::uint8_t{3}, "launch", "launches") == "3 launches");
    CHECK(count_of(1, "byte is", "bytes are") == "1 byte is");
}

TEST_CASE("a verb goes with the part, not with the whole") {
    CHECK(part_of(0, 1, "warps", "has", "have") == "0 of 1 warps have");
    CHECK(part_of(1, 3, "warps", "has", "have") == "1 of 3 warps has");
    CHECK(part_of(std::uint64_t{2}, 3, "warps", "has", "have") == "2 of 3 warps have");
}
