#include "isa/combine.hpp"

#include <bit>
#include <cfloat>
#include <cmath>

#include "isa/families.hpp"
#include "number/number.hpp"

namespace wgrun::isa {
namespace {

using enum Type;
using Reduction = BulkCopy::Reduction;

float without_subnormals(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0F, x) : x; }

/// Returns the smaller, or the greater; a zero below is smaller than one above, as on the chip.
double one_of(double a, double b, bool greater) {
    if (a == 0 && b == 0) return std::signbit(a) != greater ? a : b;
    return greater ? std::fmax(a, b) : std::fmin(a, b);
}

std::uint64_t half(Reduction operation, bool brain, std::uint64_t old, std::uint64_t value) {
    const auto from = [&](std::uint64_t bits) {
        const auto narrow = static_cast<std::uint16_t>(bits);
        return double{brain ? from_bf16(narrow) : from_f16(narrow)};
    };
    const double a = from(old), b = from(value);
    // The sum of two values is exact in binary64, or the smaller one is too small to matter.
    const double out = operation == Reduction::add ? a + b : one_of(a, b, operation == Reduction::max);
    return brain ? to_bf16(out) : to_f16(out);
}

std::uint64_t sum(Type type, bool flushes, std::uint64_t old, std::uint64_t value) {
    switch (type) {
        case f32: {
            float x = std::bit_cast<float>(static_cast<std::uint32_t>(old));
            float y = std::bit_cast<float>(static_cast<std::uint32_t>(value));
            if (flushes) x = without_subnormals(x), y = without_subnormals(y);
            const float z = x + y;
            return std::bit_cast<std::uint32_t>(flushes ? without_subnormals(z) : z);
        }
        case f64:
            return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(value));
        default: return old + value;
    }
}

std::uint64_t smaller(Type type, std::uint64_t old, std::uint64_t value, bool greater) {
    const auto number = [&](std::uint64_t bits) { return number_of(type, static_cast<std::int64_t>(bits)); };
    const bool less = type == u64 ? old < value : number(old) < number(value);
    return less != greater ? old : value;
}

}  // namespace

bool can_combine(Reduction operation, Type type) {
    const bool integer = type == u32 || type == s32 || type == u64 || type == s64;
    const bool floating = type == f16 || type == bf16;
    switch (operation) {
        case Reduction::none: return false;
        case Reduction::add: return (integer && type != s64) || floating || type == f32 || type == f64;
        case Reduction::min:
        case Reduction::max: return integer || floating;
        case Reduction::inc:
        case Reduction::dec: return type == u32;
        default: return integer || type == b32 || type == b64;
    }
}

std::uint64_t combined(Reduction operation, Type type, bool flushes, std::uint64_t old, std::uint64_t value) {
    const bool brain = type == bf16 || type == bf16x2;
    if (type == f16 || type == bf16) return half(operation, brain, old, value);
    if (type == f16x2 || type == bf16x2)
        return half(operation, brain, old, value) | half(operation, brain, old >> 16, value >> 16) << 16;
    switch (operation) {
        case Reduction::add: return sum(type, flushes, old, value);
        case Reduction::min: return smaller(type, old, value, false);
        case Reduction::max: return smaller(type, old, value, true);
        case Reduction::inc: return old >= value ? 0 : old + 1;
        case Reduction::dec: return old == 0 || old > value ? value : old - 1;
        case Reduction::bit_and: return old & value;
        case Reduction::bit_or: return old | value;
        case Reduction::bit_xor: return old ^ value;
        default: return old;
    }
}

}  // namespace wgrun::isa
