// From floating point to integers of any width, as `cvt` does it (number.hpp says how).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "number/number.hpp"

namespace wgrun {

inline double round_to_integer(double value, IntegerRounding rounding) {
    switch (rounding) {
        case IntegerRounding::rni: return std::nearbyint(value);
        case IntegerRounding::rzi: return std::trunc(value);
        case IntegerRounding::rmi: return std::floor(value);
        case IntegerRounding::rpi: break;
    }
    return std::ceil(value);
}

template <class Integer>
Integer to_integer(double value, IntegerRounding rounding) {
    using Limits = std::numeric_limits<Integer>;
    // A power of two, hence exact in binary64 where the largest integer itself may not be.
    constexpr double beyond = 2.0 * static_cast<double>(Integer{1} << (Limits::digits - 1));
    if (std::isnan(value))
        return sizeof(Integer) == 8 ? static_cast<Integer>(std::uint64_t{1} << 63) : Integer{0};
    const double rounded = round_to_integer(value, rounding);
    if (rounded >= beyond) return Limits::max();
    if (rounded <= static_cast<double>(Limits::min())) return Limits::min();
    return static_cast<Integer>(rounded);
}

}  // namespace wgrun
