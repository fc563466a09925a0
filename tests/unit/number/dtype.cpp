#include "wgrun/dtype.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

TEST_CASE("names and dtypes are inverse") {
    CHECK(all_dtypes().front() == Dtype::f64);
    for (const Dtype dtype : all_dtypes()) {
        CHECK(parse_dtype(to_string(dtype)) == dtype);
        CHECK(dtype_named(to_string(dtype)) == dtype);
    }
    CHECK_FALSE(parse_dtype("BF16"));
    CHECK_FALSE(parse_dtype(""));
}

TEST_CASE("bits and kinds") {
    CHECK(bits(Dtype::b1) == 1);
    CHECK(bits(Dtype::e4m3) == 8);
    CHECK(bits(Dtype::bf16) == 16);
    CHECK(bits(Dtype::tf32) == 32);
    CHECK(bits(Dtype::u64) == 64);
    CHECK(is_float(Dtype::tf32));
    CHECK(is_float(Dtype::e5m2));
    CHECK_FALSE(is_float(Dtype::s32));
    CHECK_FALSE(is_float(Dtype::b1));
}

TEST_CASE("an unknown dtype is told what there is") {
    CHECK_THROWS_WITH(dtype_named("bf1"), ContainsSubstring("unknown dtype `bf1`"));
    try {
        dtype_named("complex");
        FAIL("no error");
    } catch (const ArgumentError& error) {
        std::string list;
        for (const Dtype dtype : all_dtypes()) list.append(list.empty() ? "" : ", ").append(to_string(dtype));
        CHECK(error.finding().fix == "one of " + list);
        CHECK(list.starts_with("f64, f32, tf32, f16, bf16, e4m3, e5m2, s8, "));
    }
}
