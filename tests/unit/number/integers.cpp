#include <cmath>
#include <limits>

#include "number/number.hpp"
#include "tests/catch.hpp"

using namespace wgrun;
using Round = IntegerRounding;

TEST_CASE("the four roundings to integers") {
    struct Row {
        double value;
        int rni, rzi, rmi, rpi;
    };
    for (const Row& row : {Row{0.5, 0, 0, 0, 1}, Row{1.5, 2, 1, 1, 2}, Row{2.5, 2, 2, 2, 3},
                           Row{-0.5, 0, 0, -1, 0}, Row{-1.5, -2, -1, -2, -1}, Row{-2.5, -2, -2, -3, -2},
                           Row{2.75, 3, 2, 2, 3}, Row{-2.75, -3, -2, -3, -2}, Row{7, 7, 7, 7, 7}}) {
        INFO(row.value);
        CHECK(to_s32(row.value) == row.rni);
        CHECK(to_s32(row.value, Round::rzi) == row.rzi);
        CHECK(to_s32(row.value, Round::rmi) == row.rmi);
        CHECK(to_s32(row.value, Round::rpi) == row.rpi);
        CHECK(to_s8(static_cast<float>(row.value), Round::rpi) == row.rpi);
    }
}

TEST_CASE("integers clamp to their range") {
    CHECK(to_s8(127.4F) == 127);
    CHECK(to_s8(1000.0F) == 127);
    CHECK(to_s8(-1000.0F) == -128);
    CHECK(to_u8(255.5F) == 255);
    CHECK(to_u8(-0.6F) == 0);
    CHECK(to_u8(-3.0F, Round::rpi) == 0);
    CHECK(to_s32(2147483646.5, Round::rzi) == 2147483646);
    CHECK(to_s32(2147483647.5) == 2147483647);
    CHECK(to_s32(-1e300) == std::numeric_limits<std::int32_t>::min());
    CHECK(to_u32(4294967295.0) == 4294967295U);
    CHECK(to_u32(4294967296.0) == 4294967295U);
    CHECK(to_u32(-1.0) == 0);
    CHECK(to_s64(0x1p63) == std::numeric_limits<std::int64_t>::max());
    CHECK(to_s64(0x1.fffffffffffffp62) == 0x7FFFFFFFFFFFFC00);
    CHECK(to_s64(-0x1p63) == std::numeric_limits<std::int64_t>::min());
    CHECK(to_u64(0x1p64) == std::numeric_limits<std::uint64_t>::max());
    CHECK(to_u64(0x1p63) == 0x8000000000000000U);
    CHECK(to_u64(INFINITY) == std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("a NaN becomes what an H200 makes of it") {
    const double nan = std::nan("");
    CHECK(to_s8(nan) == 0);
    CHECK(to_u8(nan) == 0);
    CHECK(to_s32(nan) == 0);
    CHECK(to_u32(nan) == 0);
    CHECK(to_s64(nan) == std::numeric_limits<std::int64_t>::min());
    CHECK(to_u64(nan) == 0x8000000000000000U);
    CHECK(nan_from_f64(Dtype::s8, nan) == 0x80);
    CHECK(nan_from_f64(Dtype::u8, nan) == 0x80);
    CHECK(nan_from_f64(Dtype::s32, nan) == 0x80000000U);
    CHECK(nan_from_f64(Dtype::u32, nan) == 0x80000000U);
    CHECK(nan_from_f64(Dtype::s64, nan) == 0x8000000000000000U);
    CHECK(nan_from_f64(Dtype::u64, nan) == 0x8000000000000000U);
}
