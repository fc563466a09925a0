// Number formats: how values become bits and bits become values, with the results of the PTX ISA's `cvt`.
//
// Formats (sign, exponent, explicit mantissa bits):
//   f16 1.5.10, bf16 1.8.7, tf32 1.8.10 in the upper 19 of 32 bits: infinities, NaN, subnormals as in IEEE
//   754; e5m2 1.5.2 the same; e4m3 1.4.3 has no infinity, NaN is 0x7F or 0xFF, the largest finite value is
//   448.
//
// What all conversions to a format share (PTX ISA 9.7.9.21, cvt):
//   - one rounding, whether the value comes from binary32 or from binary64;
//   - subnormal results are kept, subnormal inputs are honoured (flush them first for .ftz);
//   - a NaN of any sign and payload becomes the format's canonical NaN: all bits but the sign are ones;
//   - -0 stays -0, and a negative value that rounds to zero becomes -0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wgrun/dtype.hpp"

namespace wgrun {

/// Rounding of a value that lies between two neighbours: to the nearest with ties to the even one (.rn),
/// towards zero (.rz), to the nearest with ties away from zero (.rna, which PTX has for tf32 only).
enum class Rounding : std::uint8_t { rn, rz, rna };

/// What becomes of magnitudes that round beyond the largest finite value, and of infinities.
///   nonfinite  infinity (a NaN of the value's sign in e4m3, which has none); under rz a finite value stays
///   finite satfinite  the largest finite value of the same sign; a NaN stays NaN (.satfinite)
enum class Overflow : std::uint8_t { nonfinite, satfinite };

/// Rounding of a floating-point value to an integer: nearest even (.rni), towards zero (.rzi),
/// towards negative (.rmi) and positive infinity (.rpi).
enum class IntegerRounding : std::uint8_t { rni, rzi, rmi, rpi };

// One value. A float argument widens to double without loss, so these serve both.

std::uint16_t to_f16(double value, Rounding rounding = Rounding::rn, Overflow overflow = Overflow::nonfinite);
std::uint16_t to_bf16(double value, Rounding rounding = Rounding::rn,
                      Overflow overflow = Overflow::nonfinite);
std::uint8_t to_e4m3(double value, Rounding rounding = Rounding::rn, Overflow overflow = Overflow::nonfinite);
std::uint8_t to_e5m2(double value, Rounding rounding = Rounding::rn, Overflow overflow = Overflow::nonfinite);

/// The low 13 bits of the result are zero, but in the canonical NaN 0x7FFFFFFF.
std::uint32_t to_tf32(double value, Rounding rounding = Rounding::rn,
                      Overflow overflow = Overflow::nonfinite);

/// The value of an encoding, exactly; a NaN gives a quiet NaN.
float from_f16(std::uint16_t bits);
float from_bf16(std::uint16_t bits);
float from_e4m3(std::uint8_t bits);
float from_e5m2(std::uint8_t bits);

/// The low 13 bits do not count (tensor cores ignore them).
float from_tf32(std::uint32_t bits);

/// Float to integer as `cvt` does it: rounds, then clamps to the range of s8, u8, s32 and so on; a NaN gives
/// 0.
std::int8_t to_s8(double value, IntegerRounding rounding = IntegerRounding::rni);
std::uint8_t to_u8(double value, IntegerRounding rounding = IntegerRounding::rni);
std::int32_t to_s32(double value, IntegerRounding rounding = IntegerRounding::rni);
std::uint32_t to_u32(double value, IntegerRounding rounding = IntegerRounding::rni);
std::int64_t to_s64(double value, IntegerRounding rounding = IntegerRounding::rni);
std::uint64_t to_u64(double value, IntegerRounding rounding = IntegerRounding::rni);

// Many values: vectorised, equal to the single forms bit for bit. `bits` and `values` are of one length
// (ArgumentError if not) and must not overlap.

void to_f16(std::span<const float> values, std::span<std::uint16_t> bits, Rounding rounding = Rounding::rn,
            Overflow overflow = Overflow::nonfinite);
void to_bf16(std::span<const float> values, std::span<std::uint16_t> bits, Rounding rounding = Rounding::rn,
             Overflow overflow = Overflow::nonfinite);
void to_tf32(std::span<const float> values, std::span<std::uint32_t> bits, Rounding rounding = Rounding::rn,
             Overflow overflow = Overflow::nonfinite);
void to_e4m3(std::span<const float> values, std::span<std::uint8_t> bits, Rounding rounding = Rounding::rn,
             Overflow overflow = Overflow::nonfinite);
void to_e5m2(std::span<const float> values, std::span<std::uint8_t> bits, Rounding rounding = Rounding::rn,
             Overflow overflow = Overflow::nonfinite);

void from_f16(std::span<const std::uint16_t> bits, std::span<float> values);
void from_bf16(std::span<const std::uint16_t> bits, std::span<float> values);
void from_tf32(std::span<const std::uint32_t> bits, std::span<float> values);
void from_e4m3(std::span<const std::uint8_t> bits, std::span<float> values);
void from_e5m2(std::span<const std::uint8_t> bits, std::span<float> values);

// Any element type, chosen at run time. The bytes are little-endian and as many as bytes_of says
// (ArgumentError if not); they need no alignment.

/// Bytes that `items` elements take: rounded up to a whole byte for b1.
/// Throws ArgumentError if `items` is negative or the bytes do not fit 63 bits.
std::int64_t bytes_of(Dtype dtype, std::int64_t items);

/// Stores `values` as elements of `dtype`: floats round to nearest even, integers round (.rni) and clamp,
/// b1 takes anything but zero as 1 and fills every byte from its lowest bit (unused high bits become 0).
void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes);
void encode(Dtype dtype, std::span<const float> values, std::span<std::byte> bytes);

/// Loads elements of `dtype`. Exact into double but for s64 and u64, which round to nearest even;
/// into float, wide types round as C++ does.
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<double> values);
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<float> values);

}  // namespace wgrun
