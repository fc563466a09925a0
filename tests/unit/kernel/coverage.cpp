// What is said of the instructions that launches have executed, and of the sizes that are legal.
#include "wgrun/coverage.hpp"

#include "tests/catch.hpp"
#include "wgrun/edge_sizes.hpp"

using namespace wgrun;

namespace {

CoveredKernel kernel(std::vector<std::pair<int, bool>> lines) {
    CoveredKernel out{"k", Where::at("k.lua", 1)};
    for (const auto& [line, executed] : lines)
        out.instructions.push_back({Where::at("k.lua", line), "bar.sync", executed});
    return out;
}

}  // namespace

TEST_CASE("a range of lines has no instruction that ran") {
    CHECK(kernel({{2, true}, {3, true}}).text() == "2 of 2 synchronising instructions ran");
    CHECK(kernel({{2, true}, {3, false}}).text() == "1 of 2 synchronising instructions ran; not: line 3");
    CHECK(kernel({{2, false}, {4, true}, {5, false}, {9, false}}).text() ==
          "1 of 4 synchronising instructions ran; not: lines 2, 5-9");
    CHECK(kernel({{5, false}, {5, true}, {6, false}}).text() ==
          "1 of 3 synchronising instructions ran; not: lines 5, 6");
    CHECK(kernel({}).percent() == 100);
}

TEST_CASE("lines of other files are named with them") {
    CoveredKernel k = kernel({{2, false}});
    k.instructions.push_back({Where::at("kit.lua", 7), "bar.sync", false});
    CHECK(k.text() == "0 of 2 synchronising instructions ran; not: line 2, kit.lua:7");
}

TEST_CASE("sizes are counted and listed") {
    const std::vector<SizeRange> ranges{{"k", 64, 192, 64}, {"n", 1, 2}};
    CHECK(count_sizes(ranges) == 6);
    const auto all = all_sizes(ranges);
    REQUIRE(all.size() == 6);
    CHECK(all[1] == std::vector<std::int64_t>{64, 2});
    CHECK(all[5] == std::vector<std::int64_t>{192, 2});
    CHECK(count_sizes(std::vector<SizeRange>{{"a", 0, INT64_MAX}, {"b", 0, INT64_MAX}}) == UINT64_MAX);
}
