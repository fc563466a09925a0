#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

using namespace wgrun;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using Index = std::vector<std::int64_t>;

Tensor row(Dtype dtype, const std::vector<double>& values) {
    return Tensor::from_values(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

TEST_CASE("equal tensors are equal under no tolerance") {
    for (const Dtype dtype : all_dtypes()) {
        const Tensor t = Tensor::randint({33, 5}, dtype, 0, 1, 3);
        const Comparison c = compare(t, t.copy(), Tolerance{});
        CHECK(c.ok);
        CHECK(c.mismatches == 0);
        CHECK(c.worst == 0);
        CHECK(c.worst_relative == 0);
        CHECK(c.index == Index{0, 0});
    }
    CHECK(compare(Tensor::zeros(Dtype::f32, {0, 3}), Tensor::zeros(Dtype::f32, {0, 3})).ok);
    CHECK(compare(Tensor::zeros(Dtype::f32, {0, 3}), Tensor::zeros(Dtype::f32, {0, 3})).index.empty());
    CHECK(compare(row(Dtype::f32, {-0.0}), row(Dtype::f32, {0.0}), Tolerance{}).ok);
}

TEST_CASE("the bound is absolute + relative * |want|") {
    const Tensor want = row(Dtype::f64, {0, 8, -16});
    const Tensor got = row(Dtype::f64, {1, 10, -20});
    CHECK(compare(got, want, Tolerance{1, 0.25}).ok);
    CHECK(compare(got, want, Tolerance{0, 0.25}).mismatches == 1);
    CHECK(compare(got, want, Tolerance{1, 0}).mismatches == 2);
    CHECK(compare(got, want, Tolerance{4, 0}).ok);
    CHECK(compare(got, want, Tolerance{3.999, 0}).mismatches == 1);
}

TEST_CASE("the worst element is among the mismatches, if there are any") {
    Tensor want = Tensor::zeros(Dtype::f64, {3, 4});
    want.set(Index{2, 3}, 1000);
    Tensor got = want.copy();
    got.set(Index{2, 3}, 1001);  // within the tolerance, though the largest error
    got.set(Index{0, 1}, 0.25);
    Comparison c = compare(got, want, Tolerance{0.25, 0.01});
    CHECK(c.ok);
    CHECK(c.worst == 1);
    CHECK(c.index == Index{2, 3});
    CHECK(c.got == 1001);
    CHECK(c.want == 1000);
    CHECK(c.worst_relative == 0.001);

    got.set(Index{1, 0}, -0.5);
    got.set(Index{1, 1}, 0.5);
    c = compare(got, want, Tolerance{0.25, 0.01});
    CHECK_FALSE(c.ok);
    CHECK(c.mismatches == 2);
    CHECK(c.worst == 0.5);
    CHECK(c.index == Index{1, 0});
    CHECK(c.got == -0.5);
    CHECK(c.want == 0);
}

TEST_CASE("NaN equals NaN, infinities equal themselves, nothing else does") {
    const Tolerance generous{1e300, 1e300};
    CHECK(compare(row(Dtype::f32, {NAN, inf, -inf}), row(Dtype::f32, {-NAN, inf, -inf}), Tolerance{}).ok);
    const Tensor got = row(Dtype::f32, {NAN, 1, inf, 1, inf});
    const Tensor want = row(Dtype::f32, {1, NAN, 1, inf, -inf});
    const Comparison c = compare(got, want, generous);
    CHECK(c.mismatches == 5);
    CHECK(c.worst == inf);
    CHECK(c.worst_relative == inf);
    CHECK(c.index == Index{0});
    CHECK(std::isnan(c.got));
    CHECK(c.want == 1);
}

TEST_CASE("64-bit integers are compared exactly") {
    Tensor got = Tensor::randint({3}, Dtype::s64, INT64_MAX - 1, INT64_MAX - 1, 1);
    const Tensor want = Tensor::randint({3}, Dtype::s64, INT64_MAX, INT64_MAX, 1);
    CHECK(got.get(0) == want.get(0));  // not told apart as doubles
    CHECK(compare(got, want).mismatches == 3);
    CHECK(compare(got, want).worst == 1);
    CHECK(compare(got, want, Tolerance{1, 0}).ok);

    const Tensor low = Tensor::randint({1}, Dtype::s64, INT64_MIN, INT64_MIN, 1);
    const Tensor high = Tensor::randint({1}, Dtype::s64, INT64_MAX, INT64_MAX, 1);
    CHECK(compare(low, high).worst == 0x1p64);
    CHECK(compare(row(Dtype::u64, {0}), row(Dtype::u64, {0x1p63})).worst == 0x1p63);
}

TEST_CASE("large tensors are searched whole, by several threads") {
    Tensor want = Tensor::zeros(Dtype::f32, {3000, 1001});
    Tensor got = want.copy();
    for (const std::int64_t position : {0L, 1L, 1'499'999L, 1'500'000L, 3'002'998L, 3'002'999L})
        got.set(position, 1);
    const Comparison c = compare(got, want, Tolerance{});
    CHECK(c.mismatches == 6);
    CHECK(c.index == Index{0, 0});
    got.set(3'002'999, 2);
    CHECK(compare(got, want, Tolerance{}).index == Index{2999, 1000});
}

TEST_CASE("default tolerances: none for integers, wider for shorter mantissas") {
    CHECK(default_tolerance(Dtype::s32).absolute == 0);
    CHECK(default_tolerance(Dtype::b1).relative == 0);
    CHECK(default_tolerance(Dtype::f32).relative < default_tolerance(Dtype::f16).relative);
    CHECK(default_tolerance(Dtype::f16).relative < default_tolerance(Dtype::bf16).relative);
    CHECK(default_tolerance(Dtype::bf16).relative < default_tolerance(Dtype::e4m3).relative);
    // A neighbour passes, the one after the next does not.
    for (const Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::e4m3, Dtype::e5m2}) {
        INFO(to_string(dtype));
        Tensor want = row(dtype, {1}), next = row(dtype, {1}), far = row(dtype, {1});
        next.bytes()[0] = std::byte{std::to_integer<std::uint8_t>(want.bytes()[0] | std::byte{1})};
        CHECK(compare(next, want).ok);
        far.bytes()[0] = std::byte{std::to_integer<std::uint8_t>(want.bytes()[0] | std::byte{3})};
        CHECK_FALSE(compare(far, want).ok);
    }
}

TEST_CASE("what cannot be compared") {
    const Tensor a = Tensor::zeros(Dtype::bf16, {2, 3});
    CHECK_THROWS_WITH(compare(a, Tensor::zeros(Dtype::bf16, {3, 2})),
                      "compare: got bf16 {2, 3}, want bf16 {3, 2}: the shapes differ");
    CHECK_THROWS_WITH(compare(a, Tensor::zeros(Dtype::f32, {2, 3})),
                      "compare: got bf16 {2, 3}, want f32 {2, 3}: the dtypes differ");
    CHECK_THROWS_WITH(compare(a, a, Tolerance{-1, 0}),
                      "compare: tolerance {absolute = -1, relative = 0}: both must be at least 0");
    CHECK_THROWS_WITH(compare(a, a, Tolerance{0, NAN}), ContainsSubstring("both must be at least 0"));
}
