#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tensor/random.hpp"

namespace wgrun {
namespace {

constexpr std::size_t octaves = 32;
constexpr int segments_log2 = 6;
constexpr std::size_t segments = std::size_t{1} << segments_log2;
constexpr int fraction_bits = 31 - segments_log2;
constexpr double unit = 0x1p28;  // quantiles are kept as multiples of 2^-28

// The table is computed by the compiler, whose arithmetic does not depend on the machine that runs the
// program (no fused operations, no libm), so that it is the same everywhere.

constexpr double exp_minus(double y) {
    // exp(-y) = exp(-y/64)^64; y is below 22.
    const double x = -y / 64;
    double sum = 1, term = 1;
    for (int n = 1; n < 14; ++n) sum += term *= x / n;
    for (int i = 0; i < 6; ++i) sum *= sum;
    return sum;
}

constexpr double density(double x) { return 0.3989422804014327 * exp_minus(x * x / 2); }

/// P(X > x) for x >= 0: the power series near zero, the continued fraction beyond.
constexpr double upper_tail(double x) {
    if (x < 2.5) {
        double sum = x, term = x;
        for (int n = 3; n < 80; n += 2) sum += term *= x * x / n;
        return 0.5 - density(x) * sum;
    }
    double fraction = x;
    for (int n = 40; n > 0; --n) fraction = x + n / fraction;
    return density(x) / fraction;
}

struct Segment {
    std::int32_t quantile;  // at the segment's lower probability
    std::int32_t drop;      // how much less it is at the upper one
};

using Table = std::array<Segment, octaves * segments>;

constexpr Table table = [] {
    Table result{};
    double x = 0;
    std::int32_t above = 0;  // the quantile of one half
    double probability = 0.5;
    for (std::size_t octave = 0; octave < octaves; ++octave) {
        const double step = probability / 2 / static_cast<double>(segments);
        for (std::size_t s = segments; s-- > 0;) {
            probability -= step;
            for (int i = 0; i < 4; ++i) x += (upper_tail(x) - probability) / density(x);
            const auto below = static_cast<std::int32_t>(x * unit);
            const std::int32_t quantile = below + (x * unit - below >= 0.5 ? 1 : 0);
            result[octave * segments + s] = {quantile, quantile - above};
            above = quantile;
        }
    }
    return result;
}();

/// Bits: the sign, then a tail probability below one half, of which the middle of the interval counts.
float normal(std::uint32_t bits) {
    const std::uint32_t middle = 2 * (bits & 0x7FFFFFFF) + 1;
    const int octave = std::countl_zero(middle);
    const std::uint32_t aligned = middle << octave;
    const std::uint32_t segment = (aligned >> fraction_bits) & (segments - 1);
    const std::int64_t fraction = aligned & ((1U << fraction_bits) - 1);
    const Segment& s = table[static_cast<std::size_t>(octave) * segments + segment];
    const std::int64_t magnitude = s.quantile - ((s.drop * fraction) >> fraction_bits);
    const auto sign = static_cast<std::int64_t>(static_cast<std::int32_t>(bits) >> 31);
    return static_cast<float>(static_cast<std::int32_t>((magnitude ^ sign) - sign)) *
           static_cast<float>(1 / unit);
}

}  // namespace

void normal_numbers(std::uint64_t seed, std::uint64_t first, std::span<float> numbers) {
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
        const std::uint64_t bits = random_bits(seed, (first + i) / 2);
        numbers[i] = normal(static_cast<std::uint32_t>(bits));
        if (i + 1 < numbers.size()) numbers[i + 1] = normal(static_cast<std::uint32_t>(bits >> 32));
    }
}

}  // namespace wgrun
