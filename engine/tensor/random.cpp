#include "tensor/random.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "number/element.hpp"
#include "number/number.hpp"
#include "tensor/chunk.hpp"
#include "tensor/parallel.hpp"
#include "wgrun/diagnostic.hpp"
#include "wgrun/tensor.hpp"

namespace wgrun {
namespace {

__extension__ using Uint128 = unsigned __int128;

/// The range of integers that a dtype represents without gaps.
struct Integers {
    std::int64_t lowest;
    std::uint64_t highest;
};

Integers integers_of(Dtype dtype) {
    const int precision = element(dtype).precision;
    switch (element(dtype).kind) {
        case Element::Kind::floating: return {-(std::int64_t{1} << precision), std::uint64_t{1} << precision};
        case Element::Kind::signed_integer:
            return {INT64_MIN >> (63 - precision), static_cast<std::uint64_t>(INT64_MAX) >> (63 - precision)};
        default: return {0, UINT64_MAX >> (64 - precision)};
    }
}

void check_range(Dtype dtype, std::int64_t lo, std::int64_t hi) {
    if (lo > hi) throw ArgumentError(fmt::format("randint: the range {} to {} is empty", lo, hi), "lo <= hi");
    const Integers all = integers_of(dtype);
    if (lo < all.lowest || (hi > 0 && static_cast<std::uint64_t>(hi) > all.highest))
        throw ArgumentError(
            fmt::format("randint: {} cannot represent every integer from {} to {}", to_string(dtype), lo, hi),
            fmt::format("{} represents {} to {}", to_string(dtype), all.lowest, all.highest));
}

}  // namespace

Tensor Tensor::randn(TensorShape shape, Dtype dtype, std::uint64_t seed) {
    if (!is_float(dtype))
        throw ArgumentError(fmt::format("randn: {} is not a floating-point type", to_string(dtype)),
                            "randint makes random integers");
    Tensor tensor(dtype, std::move(shape));
    for_parts(tensor.items(), [&](int, std::int64_t begin, std::int64_t end) {
        std::array<float, chunk_items> values;
        for_chunks(begin, end, [&](std::int64_t first, std::size_t count) {
            const std::span chunk(values.data(), count);
            normal_numbers(seed, static_cast<std::uint64_t>(first), chunk);
            encode(dtype, std::span<const float>(chunk), chunk_bytes(tensor, first, count));
        });
    });
    return tensor;
}

Tensor Tensor::randint(TensorShape shape, Dtype dtype, std::int64_t lo, std::int64_t hi, std::uint64_t seed) {
    check_range(dtype, lo, hi);
    Tensor tensor(dtype, std::move(shape));
    const Uint128 choices = Uint128{static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo)} + 1;
    const auto integer = [&](std::int64_t position) {
        const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(position));
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(lo) +
                                         static_cast<std::uint64_t>((bits * choices) >> 64));
    };
    const bool wide = !is_float(dtype) && bits(dtype) == 64;
    for_parts(tensor.items(), [&](int, std::int64_t begin, std::int64_t end) {
        std::array<double, chunk_items> values;
        std::array<std::int64_t, chunk_items> integers;
        for_chunks(begin, end, [&](std::int64_t first, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                integers[i] = integer(first + static_cast<std::int64_t>(i));
            const std::span<std::byte> bytes = chunk_bytes(tensor, first, count);
            if (wide) {
                std::memcpy(bytes.data(), integers.data(), bytes.size());
            } else {
                std::copy_n(integers.data(), count, values.data());
                encode(dtype, std::span<const double>(values.data(), count), bytes);
            }
        });
    });
    return tensor;
}

}  // namespace wgrun
