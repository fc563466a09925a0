// Element types of tensors and tiles, named as in the PTX ISA. All functions are thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace wgrun {

/// Element types that tensors hold and tiles describe. tf32 is kept in 32 bits, b1 in one bit.
enum class Dtype : std::uint8_t { f64, f32, tf32, f16, bf16, e4m3, e5m2, s8, u8, s32, u32, s64, u64, b1 };

/// "bf16"
std::string_view to_string(Dtype dtype);

/// The type with that name, or nothing.
std::optional<Dtype> parse_dtype(std::string_view name);

/// Like parse_dtype, but throws ArgumentError with the list of names (and the nearest one).
Dtype dtype_named(std::string_view name);

/// Bits of storage per element: 1 for b1, 32 for tf32.
int bits(Dtype dtype);

bool is_float(Dtype dtype);

/// Every type, in the order of the enumeration.
std::span<const Dtype> all_dtypes();

}  // namespace wgrun

#pragma GCC visibility pop
