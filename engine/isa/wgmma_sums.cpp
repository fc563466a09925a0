// The sums of a wgmma: exact, or aligned and truncated as in a tensor core.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "isa/wgmma.hpp"

// Many rows of D are computed for one row of A, so the compiler should use the host's widest vectors.
// ThreadSanitizer must not: it instruments the functions that choose, which run before it is initialised.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define WGRUN_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WGRUN_VECTORISED
#endif

namespace wgrun::isa {
namespace {

WGRUN_VECTORISED void add_floats(float factor, const float* line, int n, float* sums) {
    for (int j = 0; j < n; ++j) sums[j] += factor * line[j];
}

WGRUN_VECTORISED void add_doubles(double factor, const float* line, int n, double* sums) {
    for (int j = 0; j < n; ++j) sums[j] += factor * static_cast<double>(line[j]);
}

/// The same for four lines, one after the other: the sums are read and written once.
WGRUN_VECTORISED void add_doubles(const double* factors, const float* const* lines, int n, double* sums) {
    const float *a = lines[0], *b = lines[1], *c = lines[2], *d = lines[3];
    for (int j = 0; j < n; ++j) {
        double sum = sums[j];
        sum += factors[0] * static_cast<double>(a[j]);
        sum += factors[1] * static_cast<double>(b[j]);
        sum += factors[2] * static_cast<double>(c[j]);
        sum += factors[3] * static_cast<double>(d[j]);
        sums[j] = sum;
    }
}

WGRUN_VECTORISED void largest(int exponent, const int* line, int n, int* out) {
    for (int j = 0; j < n; ++j) out[j] = std::max(out[j], exponent + line[j]);
}

/// Computes sums[j] += factor * line[j] in units of 1 / scale[j], truncated.
WGRUN_VECTORISED void add_cut(double factor, const float* line, const double* scale, int n, double* sums) {
    for (int j = 0; j < n; ++j) sums[j] += std::trunc(factor * static_cast<double>(line[j]) * scale[j]);
}

WGRUN_VECTORISED void add_nearest(double factor, const float* line, const double* scale, int n,
                                  double* sums) {
    for (int j = 0; j < n; ++j) sums[j] += std::nearbyint(factor * static_cast<double>(line[j]) * scale[j]);
}

double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

constexpr int least_exponent_of_f32 = -126;

/// Returns the binary32 with `bits` fraction bits next to `value` towards zero. Too large values become
/// infinite, and a zero result is +0.
double cut_to_f32(double value, int bits) {
    const double magnitude = std::fabs(value);
    if (magnitude >= power_of_two(128)) return std::copysign(std::numeric_limits<double>::infinity(), value);
    if (magnitude < power_of_two(least_exponent_of_f32)) {
        const int unit = least_exponent_of_f32 - bits;
        return std::trunc(value * power_of_two(-unit)) * power_of_two(unit) + 0.0;
    }
    const std::uint64_t mask = ~((std::uint64_t{1} << (52 - bits)) - 1);
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & mask);
}

/// The caller rounds to the nearest binary16; what rounds to zero is +0.
double without_negative_zero(double sum) { return std::fabs(sum) <= power_of_two(-25) ? 0 : sum; }

int exponent_of_sum(double sum) {
    return sum == 0 ? 2 * exponent_of_zero : std::max(std::ilogb(sum), least_exponent_of_f32);
}

bool all_finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

/// Adds the block of products from `first` on, aligned to each other and to the values of `sums`.
void add_block(const Accumulation& model, const RowOfA& a, std::span<const int> exponents, const MatrixB& b,
               std::size_t first, std::size_t last, std::span<double> sums) {
    thread_local std::vector<int> top;
    thread_local std::vector<double> scale;
    const auto n = static_cast<std::size_t>(b.n);
    top.resize(n);
    scale.resize(n);
    const auto line = [&](std::size_t i) { return static_cast<std::ptrdiff_t>(a.k[i]) * b.n; };
    for (std::size_t j = 0; j < n; ++j) top[j] = exponent_of_sum(sums[j]);
    for (std::size_t i = first; i < last; ++i)
        largest(exponents[i], b.exponents.data() + line(i), b.n, top.data());
    for (std::size_t j = 0; j < n; ++j) {
        scale[j] = power_of_two(model.fraction_bits - std::max(top[j], -600));
        sums[j] = model.nearest ? std::nearbyint(sums[j] * scale[j]) : std::trunc(sums[j] * scale[j]);
    }
    for (std::size_t i = first; i < last; ++i)
        (model.nearest ? add_nearest : add_cut)(a.values[i], b.values.data() + line(i), scale.data(), b.n,
                                                sums.data());
    for (std::size_t j = 0; j < n; ++j) sums[j] /= scale[j];
}

}  // namespace

void add_products(const RowOfA& a, const MatrixB& b, std::span<float> sums) {
    for (std::size_t i = 0; i < a.k.size(); ++i)
        add_floats(a.values[i], b.values.data() + static_cast<std::ptrdiff_t>(a.k[i]) * b.n, b.n,
                   sums.data());
}

void add_products(const RowOfA& a, const MatrixB& b, std::span<double> sums) {
    constexpr std::size_t lines = 4;
    const auto line = [&](std::size_t i) {
        return b.values.data() + static_cast<std::ptrdiff_t>(a.k[i]) * b.n;
    };
    std::size_t i = 0;
    for (; i + lines <= a.k.size(); i += lines) {
        const std::array<double, lines> factors{a.values[i], a.values[i + 1], a.values[i + 2],
                                                a.values[i + 3]};
        const std::array<const float*, lines> from{line(i), line(i + 1), line(i + 2), line(i + 3)};
        add_doubles(factors.data(), from.data(), b.n, sums.data());
    }
    for (; i < a.k.size(); ++i) add_doubles(a.values[i], line(i), b.n, sums.data());
}

void exponents(Type type, std::span<const float> values, std::span<int> out) {
    const int least = type == Type::f16 || type == Type::e5m2 ? -14 : type == Type::e4m3 ? -6 : -126;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const int field = static_cast<int>(std::bit_cast<std::uint32_t>(values[i]) >> 23 & 0xFF);
        out[i] = values[i] == 0 ? exponent_of_zero : std::max(field - 127, least);
    }
}

Accumulation accumulation_of_h200(Type type) {
    switch (type) {
        case Type::tf32: return {.block = 8, .fraction_bits = 25, .result_bits = 23};
        case Type::e4m3:
        case Type::e5m2: return {.block = 32, .fraction_bits = 13, .result_bits = 13};
        default: return {.block = 16, .fraction_bits = 25, .result_bits = 23};
    }
}

void add_aligned(const Accumulation& model, Type d, const RowOfA& a, std::span<const int> exponents,
                 const MatrixB& b, std::span<double> sums) {
    thread_local std::vector<double> exact, part;
    exact.assign(sums.begin(), sums.end());
    add_products(a, b, std::span(exact));
    const auto rounded = [&](double sum) {
        return d == Type::f16 ? without_negative_zero(sum) : cut_to_f32(sum, model.result_bits);
    };
    const bool finite = all_finite(exact);
    const std::size_t block = model.block > 0 ? static_cast<std::size_t>(model.block) : a.k.size();
    for (std::size_t first = 0; first < a.k.size(); first += block) {
        const std::size_t last = std::min(first + block, a.k.size());
        if (model.accumulator_inside) {
            add_block(model, a, exponents, b, first, last, sums);
        } else {
            part.assign(sums.size(), 0);
            add_block(model, a, exponents, b, first, last, part);
            for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += part[j];
        }
        for (double& sum : sums) sum = rounded(sum);
    }
    if (finite) return;
    // Infinities and NaN are treated separately: no alignment can change them.
    for (std::size_t j = 0; j < sums.size(); ++j)
        if (!std::isfinite(exact[j]))
            sums[j] = std::isnan(exact[j]) ? std::bit_cast<float>(0x7FFFFFFFU) : exact[j];
}

}  // namespace wgrun::isa
