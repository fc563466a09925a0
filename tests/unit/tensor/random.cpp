#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "tensor/random.hpp"
#include "tests/catch.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

using namespace wgrun;

namespace {

std::uint64_t hash(const Tensor& tensor) {
    std::uint64_t h = 0xCBF29CE484222325U;
    for (const std::byte b : tensor.bytes()) h = (h ^ std::to_integer<std::uint64_t>(b)) * 0x100000001B3U;
    return h;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("randn is the same on every machine") {
    CHECK(hash(Tensor::randn({1000, 1001}, Dtype::f32, 42)) == 0x5702C1F06117A9AD);
    CHECK(hash(Tensor::randn({1000, 1001}, Dtype::bf16, 42)) == 0xA36E3823D6934015);
    CHECK(Tensor::randn({1}, Dtype::f32, 0).get(0) == 0x1.0ac5d6p-1);
    CHECK(random_bits(0, 0) == 0xA706DD2F4D197E6F);
}

TEST_CASE("an element depends on seed and position only") {
    const Tensor small = Tensor::randn({5}, Dtype::f32, 7);
    const Tensor large = Tensor::randn({2000, 1000}, Dtype::f32, 7);  // several threads
    CHECK(std::memcmp(small.data(), large.data(), small.size_bytes()) == 0);
    const Tensor other = Tensor::randn({5}, Dtype::f32, 8);
    for (std::int64_t i = 0; i < 5; ++i) CHECK(small.get(i) != other.get(i));
    for (const Dtype dtype : {Dtype::f64, Dtype::tf32, Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2}) {
        INFO(to_string(dtype));
        CHECK(compare(Tensor::randn({3001}, dtype, 7), Tensor::randn({3001}, Dtype::f32, 7).convert(dtype))
                  .worst == 0);
    }
}

TEST_CASE("randn is standard normal: moments, distribution, correlation") {
    constexpr std::int64_t count = 1 << 20;
    for (const std::uint64_t seed : {0ULL, 1ULL, 0xFFFFFFFFFFFFFFFFULL}) {
        INFO("seed " << seed);
        const Tensor t = Tensor::randn({count}, Dtype::f64, seed);
        std::vector<double> x(count);
        for (std::int64_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = t.get(i);
        double moment[5] = {}, lag[3] = {};
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (int p = 1; p <= 4; ++p) moment[p] += std::pow(x[i], p) / count;
            for (std::size_t l = 1; l <= 2; ++l)
                if (i >= l) lag[l] += x[i] * x[i - l] / count;
        }
        // Five standard deviations of each statistic: 1, sqrt 2, sqrt 15, sqrt 96 over sqrt(count) = 1024.
        CHECK(std::fabs(moment[1]) < 5 * 1.0 / 1024);
        CHECK(std::fabs(moment[2] - 1) < 5 * 1.42 / 1024);
        CHECK(std::fabs(moment[3]) < 5 * 3.88 / 1024);
        CHECK(std::fabs(moment[4] - 3) < 5 * 9.8 / 1024);
        CHECK(std::fabs(lag[1]) < 5 * 1.0 / 1024);
        CHECK(std::fabs(lag[2]) < 5 * 1.0 / 1024);
        // Kolmogorov and Smirnov: 1.95 / sqrt(count) is passed by one sample in a thousand.
        std::sort(x.begin(), x.end());
        double distance = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            distance =
                std::max(distance, std::fabs(normal_cdf(x[i]) - (static_cast<double>(i) + 0.5) / count));
        CHECK(distance < 1.95 / 1024);
        CHECK(x.front() < -4.4);
        CHECK(x.back() > 4.4);
    }
}

TEST_CASE("a normal number is the quantile of its bits") {
    std::vector<float> x(200'001);
    normal_numbers(9, 0, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto bits = static_cast<std::uint32_t>(random_bits(9, i / 2) >> (i % 2 * 32));
        const double tail = (2.0 * (bits & 0x7FFFFFFF) + 1) / 0x1p33;
        const double magnitude = std::fabs(x[i]);
        const double density = std::exp(-magnitude * magnitude / 2) / std::sqrt(2 * std::acos(-1.0));
        worst = std::max(worst, std::fabs(normal_cdf(-magnitude) - tail) / density);
        if (std::signbit(x[i]) != (bits >> 31 != 0)) FAIL("sign of element " << i);
    }
    CHECK(worst < 2e-5);
    CHECK(worst > 1e-6);  // or the test measures nothing
}

TEST_CASE("randint covers its range evenly, both ends included") {
    for (const Dtype dtype : {Dtype::s8, Dtype::s32, Dtype::s64, Dtype::f32, Dtype::bf16, Dtype::e4m3}) {
        INFO(to_string(dtype));
        const Tensor t = Tensor::randint({300, 1000}, dtype, -2, 3, 11);
        std::vector<int> count(6);
        for (std::int64_t i = 0; i < t.items(); ++i) {
            const double value = t.get(i);
            if (!(value >= -2 && value <= 3 && value == std::floor(value))) FAIL(value << " is not in -2..3");
            ++count[static_cast<std::size_t>(value + 2)];
        }
        for (const int n : count) CHECK(std::abs(n - 50'000) < 5 * 205);  // sqrt(300000 * 1/6 * 5/6) = 204
    }
    CHECK(Tensor::randint({100}, Dtype::u8, 7, 7, 3).get(99) == 7);
    const Tensor bits = Tensor::randint({64}, Dtype::b1, 0, 1, 1);
    std::set<double> seen;
    for (std::int64_t i = 0; i < 64; ++i) seen.insert(bits.get(i));
    CHECK(seen == std::set<double>{0, 1});
}

TEST_CASE("randint of the whole range of 64 bits") {
    const Tensor t = Tensor::randint({1000}, Dtype::s64, INT64_MIN, INT64_MAX, 5);
    double mean = 0;
    for (std::int64_t i = 0; i < 1000; ++i) mean += t.get(i) / 1000;
    CHECK(std::fabs(mean) < 5 * 0x1p63 / std::sqrt(3000.0));
    CHECK(Tensor::randint({1}, Dtype::u64, INT64_MAX, INT64_MAX, 5).get(0) == 0x1p63);
}

TEST_CASE("what random tensors refuse") {
    CHECK_THROWS_WITH(Tensor::randn({2}, Dtype::s32, 1), "randn: s32 is not a floating-point type");
    CHECK_THROWS_WITH(Tensor::randn({-2}, Dtype::f32, 1), "f32 {-2}: extents must not be negative");
    CHECK_THROWS_WITH(Tensor::randint({2}, Dtype::s8, 3, 2, 1), "randint: the range 3 to 2 is empty");
    const auto refuses = [](Dtype dtype, std::int64_t lo, std::int64_t hi) {
        CHECK_THROWS_WITH(Tensor::randint({2}, dtype, lo, hi, 1),
                          ContainsSubstring("cannot represent every integer"));
    };
    refuses(Dtype::s8, -129, 0);
    refuses(Dtype::s8, 0, 128);
    refuses(Dtype::u8, -1, 5);
    refuses(Dtype::u8, 0, 256);
    refuses(Dtype::b1, 0, 2);
    refuses(Dtype::u64, -1, 0);
    refuses(Dtype::bf16, 0, 257);
    refuses(Dtype::e4m3, -17, 0);
    refuses(Dtype::e5m2, 0, 9);
    refuses(Dtype::f64, 0, (1L << 53) + 1);
    try {
        Tensor::randint({2}, Dtype::f16, 0, 5000, 1);
        FAIL("no error");
    } catch (const ArgumentError& error) {
        CHECK(error.finding().fix == "f16 represents -2048 to 2048");
    }
    // The ends themselves are fine.
    CHECK(Tensor::randint({1}, Dtype::e4m3, 16, 16, 1).get(0) == 16);
    CHECK(Tensor::randint({1}, Dtype::e5m2, -8, -8, 1).get(0) == -8);
    CHECK(Tensor::randint({1}, Dtype::bf16, 256, 256, 1).get(0) == 256);
    CHECK(Tensor::randint({1}, Dtype::f16, -2048, -2048, 1).get(0) == -2048);
    CHECK(Tensor::randint({1}, Dtype::s8, -128, -128, 1).get(0) == -128);
    CHECK(Tensor::randint({1}, Dtype::u32, 4294967295, 4294967295, 1).get(0) == 4294967295.0);
}
