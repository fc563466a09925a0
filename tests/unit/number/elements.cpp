#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "number/number.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

template <class Value>
std::vector<Value> round_trip(Dtype dtype, const std::vector<Value>& values) {
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(bytes_of(dtype, static_cast<std::int64_t>(values.size()))));
    encode(dtype, std::span<const Value>(values), bytes);
    std::vector<Value> back(values.size());
    decode(dtype, bytes, std::span<Value>(back));
    return back;
}

}  // namespace

TEST_CASE("small integers survive every dtype, in blocks of any length") {
    for (const Dtype dtype : all_dtypes())
        for (const std::size_t count : {0, 1, 7, 8, 9, 1023, 1024, 1025, 5000}) {
            INFO(to_string(dtype) << " x " << count);
            std::vector<double> doubles;
            std::vector<float> singles;
            for (std::size_t i = 0; i < count; ++i) {
                doubles.push_back(dtype == Dtype::b1 ? static_cast<double>(i % 3 == 0)
                                                     : static_cast<double>(i % 5));
                singles.push_back(static_cast<float>(doubles.back()));
            }
            CHECK(round_trip(dtype, doubles) == doubles);
            CHECK(round_trip(dtype, singles) == singles);
        }
}

TEST_CASE("from binary64 there is one rounding") {
    const std::vector<double> values{1.0 + 0x1p-11 + 0x1p-40, 1.0 + 0x1p-11};
    CHECK(round_trip(Dtype::f16, values) == std::vector<double>{1.0 + 0x1p-10, 1.0});
    CHECK(round_trip(Dtype::f64, values) == values);
}

TEST_CASE("integers round to nearest even and clamp") {
    CHECK(round_trip(Dtype::s8, std::vector<double>{-200, -2.5, 1.5, 300}) ==
          std::vector<double>{-128, -2, 2, 127});
    CHECK(round_trip(Dtype::u32, std::vector<double>{-1, 4294967295.0}) ==
          std::vector<double>{0, 4294967295.0});
}

TEST_CASE("b1 fills bytes from the lowest bit and clears the rest") {
    std::vector<std::byte> bytes(2, std::byte{0xFF});
    const std::vector<double> values{1, 0, 0, 1, 0, 0, 0, 0, -2};
    encode(Dtype::b1, std::span<const double>(values), bytes);
    CHECK(bytes == std::vector<std::byte>{std::byte{0x09}, std::byte{0x01}});
}

TEST_CASE("bytes need no alignment") {
    std::vector<std::byte> bytes(1 + 4 * sizeof(double));
    const std::vector<double> values{1, -2, 3.5, 1e300};
    encode(Dtype::f64, std::span<const double>(values), std::span(bytes).subspan(1));
    std::vector<double> back(4);
    decode(Dtype::f64, std::span<const std::byte>(bytes).subspan(1), std::span<double>(back));
    CHECK(back == values);
}

TEST_CASE("sizes are checked") {
    CHECK(bytes_of(Dtype::bf16, 3) == 6);
    CHECK(bytes_of(Dtype::b1, 9) == 2);
    CHECK(bytes_of(Dtype::b1, 0) == 0);
    CHECK(bytes_of(Dtype::b1, INT64_MAX) == INT64_MAX / 8 + 1);
    CHECK(bytes_of(Dtype::f64, INT64_MAX / 8) == INT64_MAX / 8 * 8);
    CHECK_THROWS_WITH(bytes_of(Dtype::f64, INT64_MAX / 8 + 1),
                      "1152921504606846976 elements of f64 are more than 2^63 bytes");
    CHECK_THROWS_WITH(bytes_of(Dtype::f32, -1), "-1 elements: a count must not be negative");

    std::vector<std::byte> bytes(7);
    const std::vector<double> values(4);
    CHECK_THROWS_WITH(encode(Dtype::f16, std::span<const double>(values), bytes),
                      "4 elements of f16 take 8 bytes, not 7");
}
