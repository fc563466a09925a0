// Arrays of any element type, chosen at run time. Bytes come from files and from inside tensors, so whole
// blocks are copied to aligned buffers and converted there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "number/format.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun {
namespace {

constexpr std::size_t block = 1024;

void check_bytes(Dtype dtype, std::size_t items, std::size_t bytes) {
    const auto expected = static_cast<std::size_t>(bytes_of(dtype, static_cast<std::int64_t>(items)));
    if (bytes != expected)
        throw ArgumentError(
            fmt::format("{} elements of {} take {} bytes, not {}", items, to_string(dtype), expected, bytes));
}

/// Calls convert(values, stored) block by block and copies what it stored to `bytes`; load_blocks is the
/// inverse.
template <class Stored, class Value, class Convert>
void store_blocks(std::span<const Value> values, std::span<std::byte> bytes, Convert convert) {
    std::array<Stored, block> stored;
    for (std::size_t done = 0; done < values.size(); done += block) {
        const std::size_t count = std::min(block, values.size() - done);
        convert(values.subspan(done, count), std::span(stored.data(), count));
        std::memcpy(bytes.data() + done * sizeof(Stored), stored.data(), count * sizeof(Stored));
    }
}

template <class Stored, class Value, class Convert>
void load_blocks(std::span<const std::byte> bytes, std::span<Value> values, Convert convert) {
    std::array<Stored, block> stored;
    for (std::size_t done = 0; done < values.size(); done += block) {
        const std::size_t count = std::min(block, values.size() - done);
        std::memcpy(stored.data(), bytes.data() + done * sizeof(Stored), count * sizeof(Stored));
        convert(std::span<const Stored>(stored.data(), count), values.subspan(done, count));
    }
}

/// Narrow floats: through binary32, rounded to odd if the values are binary64, so that there is one rounding.
template <class Stored, class Value>
void store_narrow(std::span<const Value> values, std::span<std::byte> bytes,
                  void (*encode)(std::span<const float>, std::span<Stored>, Rounding, Overflow)) {
    store_blocks<Stored>(values, bytes, [encode](std::span<const Value> from, std::span<Stored> to) {
        if constexpr (std::is_same_v<Value, float>) {
            encode(from, to, Rounding::rn, Overflow::nonfinite);
        } else {
            std::array<float, block> odd;
            std::ranges::transform(from, odd.begin(), round_to_odd);
            encode(std::span(odd.data(), from.size()), to, Rounding::rn, Overflow::nonfinite);
        }
    });
}

template <class Stored, class Value>
void load_narrow(std::span<const std::byte> bytes, std::span<Value> values,
                 void (*decode)(std::span<const Stored>, std::span<float>)) {
    load_blocks<Stored>(bytes, values, [decode](std::span<const Stored> from, std::span<Value> to) {
        if constexpr (std::is_same_v<Value, float>) {
            decode(from, to);
        } else {
            std::array<float, block> single;
            decode(from, std::span(single.data(), from.size()));
            std::copy_n(single.data(), from.size(), to.data());
        }
    });
}

template <class Stored, class Value>
void store_each(std::span<const Value> values, std::span<std::byte> bytes,
                Stored (*convert)(double, IntegerRounding)) {
    store_blocks<Stored>(values, bytes, [convert](std::span<const Value> from, std::span<Stored> to) {
        std::ranges::transform(from, to.begin(),
                               [convert](Value v) { return convert(v, IntegerRounding::rni); });
    });
}

template <class Stored, class Value>
void store_cast(std::span<const Value> values, std::span<std::byte> bytes) {
    store_blocks<Stored>(values, bytes, [](std::span<const Value> from, std::span<Stored> to) {
        std::ranges::transform(from, to.begin(), [](Value v) { return static_cast<Stored>(v); });
    });
}

template <class Stored, class Value>
void load_cast(std::span<const std::byte> bytes, std::span<Value> values) {
    load_blocks<Stored>(bytes, values, [](std::span<const Stored> from, std::span<Value> to) {
        std::ranges::transform(from, to.begin(), [](Stored v) { return static_cast<Value>(v); });
    });
}

template <class Value>
void store_bits(std::span<const Value> values, std::span<std::byte> bytes) {
    std::ranges::fill(bytes, std::byte{0});
    for (std::size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0) bytes[i / 8] |= std::byte{1} << (i % 8);
}

template <class Value>
void load_bits(std::span<const std::byte> bytes, std::span<Value> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<Value>(std::to_integer<int>(bytes[i / 8] >> (i % 8)) & 1);
}

template <class Value>
void encode_elements(Dtype dtype, std::span<const Value> values, std::span<std::byte> bytes) {
    check_bytes(dtype, values.size(), bytes.size());
    switch (dtype) {
        case Dtype::f64: return store_cast<double>(values, bytes);
        case Dtype::f32: return store_cast<float>(values, bytes);
        case Dtype::tf32: return store_narrow<std::uint32_t>(values, bytes, to_tf32);
        case Dtype::f16: return store_narrow<std::uint16_t>(values, bytes, to_f16);
        case Dtype::bf16: return store_narrow<std::uint16_t>(values, bytes, to_bf16);
        case Dtype::e4m3: return store_narrow<std::uint8_t>(values, bytes, to_e4m3);
        case Dtype::e5m2: return store_narrow<std::uint8_t>(values, bytes, to_e5m2);
        case Dtype::s8: return store_each<std::int8_t>(values, bytes, to_s8);
        case Dtype::u8: return store_each<std::uint8_t>(values, bytes, to_u8);
        case Dtype::s32: return store_each<std::int32_t>(values, bytes, to_s32);
        case Dtype::u32: return store_each<std::uint32_t>(values, bytes, to_u32);
        case Dtype::s64: return store_each<std::int64_t>(values, bytes, to_s64);
        case Dtype::u64: return store_each<std::uint64_t>(values, bytes, to_u64);
        case Dtype::b1: return store_bits(values, bytes);
    }
}

template <class Value>
void decode_elements(Dtype dtype, std::span<const std::byte> bytes, std::span<Value> values) {
    check_bytes(dtype, values.size(), bytes.size());
    switch (dtype) {
        case Dtype::f64: return load_cast<double>(bytes, values);
        case Dtype::f32: return load_cast<float>(bytes, values);
        case Dtype::tf32: return load_narrow<std::uint32_t>(bytes, values, from_tf32);
        case Dtype::f16: return load_narrow<std::uint16_t>(bytes, values, from_f16);
        case Dtype::bf16: return load_narrow<std::uint16_t>(bytes, values, from_bf16);
        case Dtype::e4m3: return load_narrow<std::uint8_t>(bytes, values, from_e4m3);
        case Dtype::e5m2: return load_narrow<std::uint8_t>(bytes, values, from_e5m2);
        case Dtype::s8: return load_cast<std::int8_t>(bytes, values);
        case Dtype::u8: return load_cast<std::uint8_t>(bytes, values);
        case Dtype::s32: return load_cast<std::int32_t>(bytes, values);
        case Dtype::u32: return load_cast<std::uint32_t>(bytes, values);
        case Dtype::s64: return load_cast<std::int64_t>(bytes, values);
        case Dtype::u64: return load_cast<std::uint64_t>(bytes, values);
        case Dtype::b1: return load_bits(bytes, values);
    }
}

}  // namespace

std::int64_t bytes_of(Dtype dtype, std::int64_t items) {
    if (items < 0) throw ArgumentError(fmt::format("{} elements: a count must not be negative", items));
    if (dtype == Dtype::b1) return items / 8 + (items % 8 != 0 ? 1 : 0);
    const int bytes = bits(dtype) / 8;
    if (items > std::numeric_limits<std::int64_t>::max() / bytes)
        throw ArgumentError(
            fmt::format("{} elements of {} are more than 2^63 bytes", items, to_string(dtype)));
    return items * bytes;
}

void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> bytes) {
    encode_elements(dtype, values, bytes);
}
void encode(Dtype dtype, std::span<const float> values, std::span<std::byte> bytes) {
    encode_elements(dtype, values, bytes);
}
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<double> values) {
    decode_elements(dtype, bytes, values);
}
void decode(Dtype dtype, std::span<const std::byte> bytes, std::span<float> values) {
    decode_elements(dtype, bytes, values);
}

}  // namespace wgrun
