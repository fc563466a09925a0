// Counts in messages.
#include "wgrun/count_of.hpp"

#include <cstdint>

#include "tests/catch.hpp"

using wgrun::count_of;

TEST_CASE("one thing is named in the singular") {
    CHECK(count_of(1, "step") == "1 step");
    CHECK(count_of(0, "step") == "0 steps");
    CHECK(count_of(std::uint64_t{2}, "step") == "2 steps");
    CHECK(count_of(-1, "byte") == "-1 bytes");
    CHECK(count_of(1, "launch", "launches") == "1 launch");
    CHECK(count_of(std::uint8_t{3}, "launch", "launches") == "3 launches");
}
