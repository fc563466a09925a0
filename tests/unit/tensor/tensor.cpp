#include "wgrun/tensor.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

#include "memory/shared_block.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"

using namespace wgrun;

namespace {

Tensor tensor(Dtype dtype, TensorShape shape, const std::vector<double>& values) {
    return Tensor::from_values(dtype, std::move(shape), values);
}

Tensor iota(Dtype dtype, TensorShape shape) {
    Tensor result = Tensor::zeros(dtype, std::move(shape));
    for (std::int64_t i = 0; i < result.items(); ++i) result.set(i, static_cast<double>(i));
    return result;
}

using Index = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("zeros of every dtype and rank") {
    for (const Dtype dtype : all_dtypes())
        for (const TensorShape& shape :
             {TensorShape{}, {3}, {0}, {2, 0, 3}, {2, 3, 4}, {1, 1, 1, 1, 1, 1, 1, 2}}) {
            const Tensor t = Tensor::zeros(dtype, shape);
            INFO(to_string(t));
            const auto items =
                std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
            CHECK(t.items() == items);
            CHECK(t.size_bytes() == static_cast<std::size_t>((items * bits(dtype) + 7) / 8));
            CHECK(t.bytes().size() == t.size_bytes());
            CHECK(t.rank() == static_cast<int>(shape.size()));
            CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % Tensor::alignment == 0);
            for (std::int64_t i = 0; i < items; ++i) CHECK(t.get(i) == 0);
        }
}

TEST_CASE("elements are row-major") {
    const Tensor t = iota(Dtype::s32, {2, 3, 4});
    CHECK(t.get(Index{0, 0, 3}) == 3);
    CHECK(t.get(Index{0, 2, 0}) == 8);
    CHECK(t.get(Index{1, 2, 3}) == 23);
    CHECK(t.position(Index{1, 0, 2}) == 14);
    CHECK(t.index(14) == Index{1, 0, 2});
    for (std::int64_t i = 0; i < t.items(); ++i) CHECK(t.position(t.index(i)) == i);
    std::int32_t fourth = 0;
    std::memcpy(&fourth, t.data() + 4 * sizeof fourth, sizeof fourth);
    CHECK(fourth == 4);

    const Tensor scalar = tensor(Dtype::f64, {}, {2.5});
    CHECK(scalar.get(Index{}) == 2.5);
    CHECK(scalar.index(0).empty());
}

TEST_CASE("set and get of every dtype") {
    for (const Dtype dtype : all_dtypes()) {
        INFO(to_string(dtype));
        Tensor t = Tensor::zeros(dtype, {3, 7});
        t.set(Index{1, 4}, 1);
        t.set(Index{2, 6}, 1);
        t.set(Index{1, 3}, 1);
        t.set(Index{1, 3}, 0);
        for (std::int64_t i = 0; i < t.items(); ++i) CHECK(t.get(i) == (i == 11 || i == 20 ? 1 : 0));
    }
    Tensor t = Tensor::zeros(Dtype::bf16, {2});
    t.set(0, 1.0 + 0x1p-9);
    t.set(1, std::nan(""));
    CHECK(t.get(0) == 1.0);
    CHECK(std::isnan(t.get(1)));
}

TEST_CASE("b1 is packed from the lowest bit, without padding between rows") {
    const Tensor t = tensor(Dtype::b1, {3, 3}, {1, 0, 0, 0, 0, 0, 0, 0, 1});
    REQUIRE(t.size_bytes() == 2);
    CHECK(t.bytes()[0] == std::byte{1});
    CHECK(t.bytes()[1] == std::byte{1});
}

TEST_CASE("moving leaves nothing behind, copying leaves the original alone") {
    Tensor a = tensor(Dtype::f32, {2, 2}, {1, 2, 3, 4});
    const std::byte* data = a.data();
    Tensor copy = a.copy();
    copy.set(0, 9);
    CHECK(a.get(0) == 1);
    CHECK(copy.get(3) == 4);

    Tensor b = std::move(a);
    CHECK(b.data() == data);
    CHECK(b.get(3) == 4);
    CHECK(a.items() == 0);  // NOLINT(bugprone-use-after-move): what is left is what is tested
    CHECK(a.size_bytes() == 0);
    CHECK_THROWS_AS(a.get(0), ArgumentError);
    CHECK(a.rank() == 0);
    CHECK_THROWS_AS(a.get(std::span<const std::int64_t>()), ArgumentError);
    copy = std::move(b);
    CHECK(copy.data() == data);
    CHECK(to_string(copy) == "f32 {2, 2}");
}

TEST_CASE("conversion rounds once and keeps the shape") {
    const Tensor wide = tensor(Dtype::f64, {2, 2}, {1.0 + 0x1p-11 + 0x1p-40, -3, 1e9, INFINITY});
    const Tensor half = wide.convert(Dtype::f16);
    CHECK(to_string(half) == "f16 {2, 2}");
    CHECK(half.get(0) == 1.0 + 0x1p-10);
    CHECK(half.get(1) == -3);
    CHECK(half.get(2) == INFINITY);
    CHECK(half.get(3) == INFINITY);

    // Large enough for several threads; b1 shares no byte between them.
    const Tensor ones = Tensor::randint({1'000'003}, Dtype::u8, 0, 1, 5);
    const Tensor bits = ones.convert(Dtype::b1);
    CHECK(compare(bits.convert(Dtype::u8), ones).ok);
    CHECK_THROWS_WITH(wide.convert(Dtype::s32), "1.0004882812509095 is not an integer, which s32 needs");
}

TEST_CASE("shapes that no tensor has") {
    const auto zeros = [](TensorShape shape) { return Tensor::zeros(Dtype::f32, std::move(shape)); };
    CHECK_THROWS_WITH(zeros({2, -1}), "f32 {2, -1}: extents must not be negative");
    CHECK_THROWS_WITH(zeros({0, -1}), "f32 {0, -1}: extents must not be negative");
    CHECK_THROWS_WITH(zeros({1, 1, 1, 1, 1, 1, 1, 1, 1}),
                      "f32 {1, 1, 1, 1, 1, 1, 1, 1, 1}: 9 dimensions, but a tensor has at most 8");
    for (const TensorShape& shape : {TensorShape{INT64_MAX},
                                     {INT64_MAX, INT64_MAX},
                                     {1L << 32, 1L << 32},
                                     {1L << 62, 4},
                                     {(1L << 38) + 1}})
        CHECK_THROWS_WITH(zeros(shape), ContainsSubstring("a tensor can take at most 1 TiB"));
    CHECK_THROWS_WITH(Tensor::zeros(Dtype::b1, {INT64_MAX}), ContainsSubstring("at most 1 TiB"));
    CHECK(zeros({INT64_MAX, 0, INT64_MAX}).items() == 0);
}

TEST_CASE("what set, get and from_values refuse") {
    Tensor t = Tensor::zeros(Dtype::u8, {2, 3});
    CHECK_THROWS_WITH(t.get(Index{2, 0}), "index {2, 0} is outside u8 {2, 3}");
    CHECK_THROWS_WITH(t.get(Index{0, -1}), "index {0, -1} is outside u8 {2, 3}");
    CHECK_THROWS_WITH(t.get(Index{1}), "index {1} does not have as many coordinates as u8 {2, 3}");
    CHECK_THROWS_WITH(t.get(6), "position 6 is outside u8 {2, 3}, which has 6 elements");
    CHECK_THROWS_WITH(t.index(-1), "position -1 is outside u8 {2, 3}, which has 6 elements");
    CHECK_THROWS_WITH(t.set(0, 256), "256 is not in the range of u8, 0 to 255");
    CHECK_THROWS_WITH(t.set(0, -1), "-1 is not in the range of u8, 0 to 255");
    CHECK_THROWS_WITH(t.set(0, 0.5), "0.5 is not an integer, which u8 needs");
    CHECK_THROWS_WITH(t.set(0, NAN), "nan is not an integer, which u8 needs");
    CHECK_THROWS_WITH(tensor(Dtype::s8, {2}, {-128, 128}), "128 is not in the range of s8, -128 to 127");
    CHECK_THROWS_WITH(tensor(Dtype::s64, {1}, {0x1p63}), ContainsSubstring("is not in the range of s64"));
    CHECK_THROWS_WITH(tensor(Dtype::b1, {1}, {2}), "2 is not in the range of b1, 0 to 1");
    CHECK_THROWS_WITH(tensor(Dtype::bf16, {2, 3}, {1, 2}),
                      "bf16 {2, 3} has 6 elements, but 2 values are given");
    CHECK_THROWS_WITH(tensor(Dtype::bf16, {2}, {1}), "bf16 {2} has 2 elements, but 1 value is given");
    CHECK(tensor(Dtype::s64, {1}, {-0x1p63}).get(0) == -0x1p63);
    CHECK(tensor(Dtype::u64, {1}, {0x1.fffffffffffffp63}).get(0) == 0x1.fffffffffffffp63);
}

TEST_CASE("tensor: large ones lie where another process can map them") {
    const Tensor large = Tensor::zeros(Dtype::u8, {1 << 20});
    CHECK(memory::find(large.data(), large.size_bytes()));
    CHECK_FALSE(memory::find(Tensor::zeros(Dtype::u8, {1 << 10}).data(), 1));
    CHECK(memory::find(large.copy().data(), large.size_bytes()));
}
