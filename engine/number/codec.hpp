// Arrays of an element type. Bytes come from files and from inside tensors, so whole blocks are copied to
// aligned buffers and converted there.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "number/element.hpp"
#include "number/format.hpp"
#include "number/integer.hpp"

namespace wgrun::codec {

inline constexpr std::size_t block = 1024;

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
template <Format F, class Stored, class Value>
void store_narrow(std::span<const Value> values, std::span<std::byte> bytes) {
    store_blocks<Stored>(values, bytes, [](std::span<const Value> from, std::span<Stored> to) {
        if constexpr (std::is_same_v<Value, float>) {
            encode_all<F, Rounding::rn, Overflow::nonfinite>(from.data(), to.data(), from.size());
        } else {
            std::array<float, block> odd;
            std::ranges::transform(from, odd.begin(), round_to_odd);
            encode_all<F, Rounding::rn, Overflow::nonfinite>(odd.data(), to.data(), from.size());
        }
    });
}

template <Format F, class Stored, class Value>
void load_narrow(std::span<const std::byte> bytes, std::span<Value> values) {
    load_blocks<Stored>(bytes, values, [](std::span<const Stored> from, std::span<Value> to) {
        if constexpr (std::is_same_v<Value, float>) {
            decode_all<F>(from.data(), to.data(), from.size());
        } else {
            std::array<float, block> single;
            decode_all<F>(from.data(), single.data(), from.size());
            std::copy_n(single.data(), from.size(), to.data());
        }
    });
}

template <class Stored, class Value>
void store_integers(std::span<const Value> values, std::span<std::byte> bytes) {
    store_blocks<Stored>(values, bytes, [](std::span<const Value> from, std::span<Stored> to) {
        std::ranges::transform(from, to.begin(),
                               [](Value v) { return to_integer<Stored>(v, IntegerRounding::rni); });
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

/// A format no wider than binary32, each element in a `Stored`.
template <Format F, class Stored>
inline constexpr Coding narrow{store_narrow<F, Stored, double>, store_narrow<F, Stored, float>,
                               load_narrow<F, Stored, double>, load_narrow<F, Stored, float>};
/// C++'s own floats.
template <class Stored>
inline constexpr Coding floating{store_cast<Stored, double>, store_cast<Stored, float>,
                                 load_cast<Stored, double>, load_cast<Stored, float>};
/// Rounded to nearest even, and clamped.
template <class Stored>
inline constexpr Coding integer{store_integers<Stored, double>, store_integers<Stored, float>,
                                load_cast<Stored, double>, load_cast<Stored, float>};
/// Eight in a byte, the first one lowest.
inline constexpr Coding bits{store_bits<double>, store_bits<float>, load_bits<double>, load_bits<float>};

}  // namespace wgrun::codec
