#include <fmt/format.h>

#include <bit>

#include "number/format.hpp"
#include "wgrun/count_of.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

template <Format F, Overflow O, class Bits>
void encode_rounded(const float* values, Bits* bits, std::size_t count, Rounding rounding) {
    switch (rounding) {
        case Rounding::rn: return encode_all<F, Rounding::rn, O>(values, bits, count);
        case Rounding::rz: return encode_all<F, Rounding::rz, O>(values, bits, count);
        case Rounding::rna: break;
    }
    if constexpr (F.padding_bits > 0)
        encode_all<F, Rounding::rna, O>(values, bits, count);
    else
        throw ArgumentError("rounding .rna exists for tf32 only", "use .rn or .rz");
}

template <Format F, class Bits>
void encode(const float* values, Bits* bits, std::size_t count, Rounding rounding, Overflow overflow) {
    if (overflow == Overflow::satfinite)
        encode_rounded<F, Overflow::satfinite>(values, bits, count, rounding);
    else
        encode_rounded<F, Overflow::nonfinite>(values, bits, count, rounding);
}

void check_lengths(std::size_t values, std::size_t bits) {
    if (values != bits)
        throw ArgumentError(fmt::format("{} against {} encodings", count_of(values, "value"), bits));
}

template <Format F, class Bits>
void encode(std::span<const float> values, std::span<Bits> bits, Rounding rounding, Overflow overflow) {
    check_lengths(values.size(), bits.size());
    encode<F>(values.data(), bits.data(), values.size(), rounding, overflow);
}

template <Format F, class Bits>
Bits encode(double value, Rounding rounding, Overflow overflow) {
    const float odd = round_to_odd(value);
    Bits bits = 0;
    encode<F>(&odd, &bits, 1, rounding, overflow);
    return bits;
}

template <Format F, class Bits>
void decode(std::span<const Bits> bits, std::span<float> values) {
    check_lengths(values.size(), bits.size());
    decode_all<F>(bits.data(), values.data(), values.size());
}

template <Format F, class Bits>
float decode(Bits bits) {
    return std::bit_cast<float>(Codec<F>::decode(bits));
}

}  // namespace

std::uint16_t to_f16(double value, Rounding rounding, Overflow overflow) {
    return encode<f16_format, std::uint16_t>(value, rounding, overflow);
}
std::uint16_t to_bf16(double value, Rounding rounding, Overflow overflow) {
    return encode<bf16_format, std::uint16_t>(value, rounding, overflow);
}
std::uint32_t to_tf32(double value, Rounding rounding, Overflow overflow) {
    return encode<tf32_format, std::uint32_t>(value, rounding, overflow);
}
std::uint8_t to_e4m3(double value, Rounding rounding, Overflow overflow) {
    return encode<e4m3_format, std::uint8_t>(value, rounding, overflow);
}
std::uint8_t to_e5m2(double value, Rounding rounding, Overflow overflow) {
    return encode<e5m2_format, std::uint8_t>(value, rounding, overflow);
}

float from_f16(std::uint16_t bits) { return decode<f16_format>(bits); }
float from_bf16(std::uint16_t bits) { return decode<bf16_format>(bits); }
float from_tf32(std::uint32_t bits) { return decode<tf32_format>(bits); }
float from_e4m3(std::uint8_t bits) { return decode<e4m3_format>(bits); }
float from_e5m2(std::uint8_t bits) { return decode<e5m2_format>(bits); }

void to_f16(std::span<const float> values, std::span<std::uint16_t> bits, Rounding rounding,
            Overflow overflow) {
    encode<f16_format>(values, bits, rounding, overflow);
}
void to_bf16(std::span<const float> values, std::span<std::uint16_t> bits, Rounding rounding,
             Overflow overflow) {
    encode<bf16_format>(values, bits, rounding, overflow);
}
void to_tf32(std::span<const float> values, std::span<std::uint32_t> bits, Rounding rounding,
             Overflow overflow) {
    encode<tf32_format>(values, bits, rounding, overflow);
}
void to_e4m3(std::span<const float> values, std::span<std::uint8_t> bits, Rounding rounding,
             Overflow overflow) {
    encode<e4m3_format>(values, bits, rounding, overflow);
}
void to_e5m2(std::span<const float> values, std::span<std::uint8_t> bits, Rounding rounding,
             Overflow overflow) {
    encode<e5m2_format>(values, bits, rounding, overflow);
}

void from_f16(std::span<const std::uint16_t> bits, std::span<float> values) {
    decode<f16_format>(bits, values);
}
void from_bf16(std::span<const std::uint16_t> bits, std::span<float> values) {
    decode<bf16_format>(bits, values);
}
void from_tf32(std::span<const std::uint32_t> bits, std::span<float> values) {
    decode<tf32_format>(bits, values);
}
void from_e4m3(std::span<const std::uint8_t> bits, std::span<float> values) {
    decode<e4m3_format>(bits, values);
}
void from_e5m2(std::span<const std::uint8_t> bits, std::span<float> values) {
    decode<e5m2_format>(bits, values);
}

std::uint64_t nan_from_f64(Dtype to, double nan) {
    const auto bits = std::bit_cast<std::uint64_t>(nan);
    const auto keep = [&](const Format& format) -> std::uint64_t {
        const std::uint64_t quiet = 0x7FFFU >> (format.mantissa_bits - 1) << (format.mantissa_bits - 1);
        return (bits >> 63 << 15) | quiet | (bits & 0xFFFFFFFFFFFFF) >> (52 - format.mantissa_bits);
    };
    if (to == Dtype::f16) return keep(f16_format);
    if (to == Dtype::bf16) return keep(bf16_format);
    if (is_float(to) || to == Dtype::b1)
        throw ArgumentError(fmt::format("a NaN from f64 to {}: f16, bf16 or an integer type", to_string(to)));
    return std::uint64_t{1} << (wgrun::bits(to) - 1);
}

}  // namespace wgrun
