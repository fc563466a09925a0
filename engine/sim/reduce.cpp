#include "sim/reduce.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "number/number.hpp"

namespace wgrun::sim {
namespace {

using isa::Type;
using enum isa::BulkCopy::Reduction;

template <class T, class F>
bool each(std::byte* to, const std::byte* from, std::int64_t count, F f) {
    for (std::int64_t i = 0; i < count; ++i, to += sizeof(T), from += sizeof(T)) {
        T a, b;
        std::memcpy(&a, to, sizeof(T));
        std::memcpy(&b, from, sizeof(T));
        const T result = f(a, b);
        std::memcpy(to, &result, sizeof(T));
    }
    return true;
}

template <class T>
bool ordered(isa::BulkCopy::Reduction op, std::byte* to, const std::byte* from, std::int64_t count) {
    if (op == min) return each<T>(to, from, count, [](T a, T b) { return std::min(a, b); });
    if (op == max) return each<T>(to, from, count, [](T a, T b) { return std::max(a, b); });
    return false;
}

template <class T>
bool bitwise(isa::BulkCopy::Reduction op, std::byte* to, const std::byte* from, std::int64_t count) {
    if (op == bit_and) return each<T>(to, from, count, [](T a, T b) { return a & b; });
    if (op == bit_or) return each<T>(to, from, count, [](T a, T b) { return a | b; });
    if (op == bit_xor) return each<T>(to, from, count, [](T a, T b) { return a ^ b; });
    return false;
}

bool counting(isa::BulkCopy::Reduction op, std::byte* to, const std::byte* from, std::int64_t count) {
    using T = std::uint32_t;
    if (op == inc) return each<T>(to, from, count, [](T a, T b) { return a >= b ? 0 : a + 1; });
    if (op == dec) return each<T>(to, from, count, [](T a, T b) { return a == 0 || a > b ? b : a - 1; });
    return false;
}

float flushed(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0F, x) : x; }

/// Floats of 16 bits: the sum of two is exact in binary64.
template <float (*From)(std::uint16_t), std::uint16_t (*To)(double, Rounding, Overflow)>
bool half(isa::BulkCopy::Reduction op, std::byte* to, const std::byte* from, std::int64_t count) {
    const auto with = [&](auto f) {
        return each<std::uint16_t>(to, from, count, [f](std::uint16_t a, std::uint16_t b) {
            return To(f(double{From(a)}, double{From(b)}), Rounding::rn, Overflow::nonfinite);
        });
    };
    if (op == add) return with([](double a, double b) { return a + b; });
    if (op == min) return with([](double a, double b) { return std::fmin(a, b); });
    if (op == max) return with([](double a, double b) { return std::fmax(a, b); });
    return false;
}

}  // namespace

bool reduce(isa::BulkCopy::Reduction op, Type type, std::byte* to, const std::byte* from,
            std::int64_t count) {
    const auto sum = [&](auto zero) {
        using T = decltype(zero);
        return op == add && each<T>(to, from, count, [](T a, T b) { return a + b; });
    };
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    switch (type) {
        case Type::u32:
            return sum(u32{}) || ordered<u32>(op, to, from, count) || bitwise<u32>(op, to, from, count) ||
                   counting(op, to, from, count);
        // Sums wrap, which only unsigned types do.
        case Type::s32:
            return sum(u32{}) || ordered<std::int32_t>(op, to, from, count) ||
                   bitwise<u32>(op, to, from, count);
        case Type::u64:
            return sum(u64{}) || ordered<u64>(op, to, from, count) || bitwise<u64>(op, to, from, count);
        case Type::s64:
            return ordered<std::int64_t>(op, to, from, count) || bitwise<u64>(op, to, from, count);
        case Type::b32: return bitwise<u32>(op, to, from, count);
        case Type::b64: return bitwise<u64>(op, to, from, count);
        case Type::f32:
            return op == add && each<float>(to, from, count, [](float a, float b) {
                       return flushed(flushed(a) + flushed(b));
                   });
        case Type::f64: return sum(double{});
        case Type::f16: return half<from_f16, to_f16>(op, to, from, count);
        case Type::bf16: return half<from_bf16, to_bf16>(op, to, from, count);
        default: return false;
    }
}

}  // namespace wgrun::sim
