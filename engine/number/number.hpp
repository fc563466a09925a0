// Number formats: how values become bits and bits become values, with the results of the PTX ISA's `cvt`.
//
// Formats, as sign.exponent.mantissa bits:
//   f16  1.5.10, bf16 1.8.7, e5m2 1.5.2: infinities, NaN and subnormals as in IEEE 754
//   tf32 1.8.10 the same, in the upper 19 of 32 bits
//   e4m3 1.4.3  no infinity; NaN is 0x7F or 0xFF, the largest finite value is 448
//
// What all conversions to a format share (PTX ISA 9.7.9.21, cvt; compared with an H200 on all 2^32 inputs):
//   - one rounding, whether the value comes from binary32 or from binary64;
//   - subnormal results are kept, subnormal inputs are honoured (flush them first for .ftz);
//   - -0 stays -0, and a negative value that rounds to zero becomes -0;
//   - a NaN of any sign and payload becomes the canonical NaN, all of whose bits but the sign are ones.
//
// Where the silicon keeps something of a NaN instead, so do these functions:
//   - tf32 under .rna: sign and the upper bits of the payload (if those are zero, an infinity results);
//   - bf16 and tf32 to binary32: all bits.
// One difference: of a NaN, tf32 under .rna.satfinite is the canonical one here, where the silicon gives what
// .rna would, less 0x2000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wgrun/dtype.hpp"

namespace wgrun {

/// Rounding of a value that lies between two neighbours: to the nearest with ties to the even one (.rn),
/// towards zero (.rz), to the nearest with ties away from zero (.rna; PTX has it for tf32 only, so the other
/// formats throw ArgumentError).
enum class Rounding : std::uint8_t { rn, rz, rna };

/// The treatment of magnitudes that round beyond the largest finite value, and of infinities.
///
/// nonfinite: infinity (in e4m3, which has none, a NaN of the value's sign). Under .rz finite values stay
/// finite.
///
/// satfinite: the largest finite value of the same sign (.satfinite).
enum class Overflow : std::uint8_t { nonfinite, satfinite };

/// Rounding of a floating-point value to an integer: nearest even (.rni), towards zero (.rzi),
/// towards negative (.rmi) and positive infinity (.rpi).
enum class IntegerRounding : std::uint8_t { rni, rzi, rmi, rpi };

// One value, of binary64 or of any type that widens to it without loss. (Widening makes a signalling NaN
// quiet, which shows in the payloads that tf32 keeps under .rna.)

std::uint16_t to_f16(double value, Rounding rounding = Rounding::rn, Overflow overflow = Overflow::nonfinite);
std::uint16_t to_bf16(double value, Rounding rounding = Rounding::rn,
                      Overflow overflow = Overflow::nonfinite);
std::uint8_t to_e4m3(double value, Rounding rounding = Rounding::rn, Overflow overflow = Overflow::nonfinite);
std::uint8_t to_e5m2(double value, Rounding rounding = Rounding::rn, Overflow overflow = Overflow::nonfinite);

/// In 32 bits, the low 13 of which are zero, also in the canonical NaN 0x7FFFE000.
std::uint32_t to_tf32(double value, Rounding rounding = Rounding::rn,
                      Overflow overflow = Overflow::nonfinite);

/// The value of an encoding, exactly. A NaN of f16, e4m3 or e5m2 gives the canonical one, 0x7FFFFFFF.
float from_f16(std::uint16_t bits);
float from_bf16(std::uint16_t bits);
float from_e4m3(std::uint8_t bits);
float from_e5m2(std::uint8_t bits);

/// The low 13 bits are ignored.
float from_tf32(std::uint32_t bits);

/// Float to integer as `cvt` does it: rounds, then clamps to the range of the type. A NaN gives 0, but s64
/// and u64 get their highest bit alone.
std::int8_t to_s8(double value, IntegerRounding rounding = IntegerRounding::rni);
std::uint8_t to_u8(double value, IntegerRounding rounding = IntegerRounding::rni);
std::int32_t to_s32(double value, IntegerRounding rounding = IntegerRounding::rni);
std::uint32_t to_u32(double value, IntegerRounding rounding = IntegerRounding::rni);
std::int64_t to_s64(double value, IntegerRounding rounding = IntegerRounding::rni);
std::uint64_t to_u64(double value, IntegerRounding rounding = IntegerRounding::rni);

/// The result of cvt for a NaN of source type .f64, where it differs from the above: f16 and bf16 keep
/// the sign and the upper bits of the payload, made quiet; integers of any width get their highest bit alone.
/// `to` is f16, bf16 or an integer type (ArgumentError if not).
std::uint64_t nan_from_f64(Dtype to, double nan);

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
/// NaN is canonical, b1 takes anything but zero as 1 and fills every byte from its lowest bit (unused high
/// bits become 0).
void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes);
void encode(Dtype dtype, std::span<const float> values, std::span<std::byte> bytes);

/// Loads elements of `dtype`. Exact into double but for s64 and u64, which round to nearest even;
/// into float, wide types round as C++ does.
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<double> values);
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<float> values);

}  // namespace wgrun
