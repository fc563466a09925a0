// The one algorithm that encodes binary32 in a narrower format and decodes it again.
//
// It is branch-free and free of per-lane shifts, so that loops over it vectorise on any x86-64 or AArch64.
#pragma once

#include <bit>
#include <cstdint>

#include "number/number.hpp"

namespace wgrun {

/// A floating-point format no wider than binary32: a sign, then the exponent, then the mantissa, then zeros.
struct Format {
    int exponent_bits;
    int mantissa_bits;
    bool has_infinity = true;
    int padding_bits = 0;
};

inline constexpr Format f16_format{5, 10};
inline constexpr Format bf16_format{8, 7};
inline constexpr Format tf32_format{8, 10, true, 13};
inline constexpr Format e4m3_format{4, 3, false};
inline constexpr Format e5m2_format{5, 2};

template <Format F>
class Codec {
    static constexpr int mantissa = F.mantissa_bits;
    static constexpr int bias = (1 << (F.exponent_bits - 1)) - 1;
    static constexpr int dropped = 23 - mantissa;
    static constexpr bool binary32_range = F.exponent_bits == 8;

    // Encodings without sign and padding. All ones is a NaN in every format.
    static constexpr std::uint32_t all_ones = (1U << (F.exponent_bits + mantissa)) - 1;
    static constexpr std::uint32_t max_finite = F.has_infinity ? all_ones - (1U << mantissa) : all_ones - 1;
    static constexpr std::uint32_t infinity = max_finite + 1;

    // Bits of binary32.
    static constexpr std::uint32_t infinity32 = 0x7F800000;
    static constexpr std::uint32_t nan32 = 0x7FFFFFFF;
    static constexpr std::uint32_t min_normal32 = static_cast<std::uint32_t>(128 - bias) << 23;
    // The power of two whose unit in the last place is the format's smallest subnormal number: adding it
    // to a smaller number rounds that one (to nearest even) to a multiple of the subnormal.
    static constexpr std::uint32_t magic32 = static_cast<std::uint32_t>(151 - bias - mantissa) << 23;

    template <Rounding R>
    static std::uint32_t round_normal(std::uint32_t u) {
        constexpr std::uint32_t half = 1U << (dropped - 1);
        if constexpr (R == Rounding::rn) u += half - 1 + ((u >> dropped) & 1);
        if constexpr (R == Rounding::rna) u += half;
        return (u >> dropped) - (static_cast<std::uint32_t>(127 - bias) << mantissa);
    }

    template <Rounding R>
    static std::uint32_t round_subnormal(std::uint32_t u) {
        const float magic = std::bit_cast<float>(magic32);
        const float value = std::bit_cast<float>(u);
        const float sum = value + magic;
        std::uint32_t rounded = std::bit_cast<std::uint32_t>(sum) - magic32;
        const auto remainder = std::bit_cast<std::uint32_t>(value - (sum - magic));  // exact
        if constexpr (R == Rounding::rz) rounded -= remainder >> 31;
        return rounded;
    }

  public:
    /// The encoding of the binary32 number with these bits.
    template <Rounding R, Overflow O>
    requires(R != Rounding::rna || F.padding_bits > 0) static std::uint32_t encode(std::uint32_t bits) {
        const std::uint32_t u = bits & nan32;
        // Where the exponent ranges agree, binary32's subnormals round as its normal numbers do.
        std::uint32_t result = round_normal<R>(u);
        if constexpr (!binary32_range) result = choose(below(u, min_normal32), round_subnormal<R>(u), result);
        constexpr bool stays_finite = O == Overflow::satfinite || R == Rounding::rz;
        result = choose(below(max_finite, result), stays_finite ? max_finite : infinity, result);
        if constexpr (O == Overflow::nonfinite && R == Rounding::rz)
            result = choose(below(u, infinity32), result, infinity);

        const std::uint32_t sign = bits >> 31 << (F.exponent_bits + mantissa);
        result = (result | sign) << F.padding_bits;
        constexpr bool keeps_payload = R == Rounding::rna && O == Overflow::nonfinite;
        const std::uint32_t nan =
            keeps_payload ? bits >> dropped << F.padding_bits : all_ones << F.padding_bits;
        return choose(below(infinity32, u), nan, result);
    }

    /// The bits of the binary32 number that `code` stands for.
    static constexpr std::uint32_t decode(std::uint32_t code) {
        code >>= F.padding_bits;
        if constexpr (binary32_range) {
            return code << dropped;
        } else {
            const std::uint32_t m = code & all_ones;
            const std::uint32_t sign = code >> (F.exponent_bits + mantissa) << 31;
            std::uint32_t u = (m << dropped) + (static_cast<std::uint32_t>(127 - bias) << 23);
            const float small = std::bit_cast<float>(m + magic32) - std::bit_cast<float>(magic32);
            u = choose(below(m, 1U << mantissa), std::bit_cast<std::uint32_t>(small), u);
            if constexpr (F.has_infinity) u = choose(below(m, infinity), u, infinity32);
            constexpr std::uint32_t last = F.has_infinity ? infinity : max_finite;
            return choose(below(last, m), nan32, u | sign);
        }
    }

  private:
    /// All ones if a < b, both below 2^31; else zero. Masks instead of branches: the compiler does not
    /// vectorise a loop that computes in binary32 under a condition.
    static constexpr std::uint32_t below(std::uint32_t a, std::uint32_t b) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(a - b) >> 31);
    }
    static constexpr std::uint32_t choose(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
        return (yes & mask) | (no & ~mask);
    }
};

/// Both arrays have `count` elements, and do not overlap.
template <Format F, Rounding R, Overflow O, class Bits>
void encode_all(const float* __restrict values, Bits* __restrict bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        bits[i] = static_cast<Bits>(Codec<F>::template encode<R, O>(std::bit_cast<std::uint32_t>(values[i])));
}
template <Format F, class Bits>
void decode_all(const Bits* __restrict bits, float* __restrict values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values[i] = std::bit_cast<float>(Codec<F>::decode(bits[i]));
}

/// `value` rounded to binary32 so that rounding the result once more, to a format that is at least two bits
/// shorter, gives what rounding `value` at once would: truncated, with the last bit set if anything was lost.
inline float round_to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    const auto bits = std::bit_cast<std::uint32_t>(nearest);
    const double back = nearest;
    const bool inexact = back != value && value == value;
    const bool too_large = (back < 0 ? -back : back) > (value < 0 ? -value : value);
    return std::bit_cast<float>(inexact ? (bits - (too_large ? 1U : 0U)) | 1U : bits);
}

}  // namespace wgrun
