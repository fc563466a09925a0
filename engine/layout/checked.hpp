// 64-bit arithmetic that refuses to wrap.
#pragma once

#include <cstdint>

#include "wgrun/diagnostic.hpp"

namespace wgrun {

[[noreturn]] inline void refuse_overflow() {
    throw ArgumentError("layout: an extent, stride or offset does not fit in 64 bits",
                        "smaller extents or strides");
}

inline std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) refuse_overflow();
    return product;
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) refuse_overflow();
    return sum;
}

inline std::int64_t checked_abs(std::int64_t a) { return a < 0 ? checked_mul(a, -1) : a; }

/// For a >= 0 and b >= 1.
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace wgrun
