// Integers of 16 bits, two in a register: u16x2 and s16x2.
#pragma once

#include "isa/families.hpp"
#include "isa/lanes.hpp"

namespace wgrun::isa {

inline bool is_pair(Type type) { return type == Type::u16x2 || type == Type::s16x2; }
/// Returns the row of add, min and max.
inline Row pairs() { return {{types({Type::u16x2, Type::s16x2})}, {8, 0}}; }

/// Computes d = f(a, b) on each half, a number of 16 bits with or without a sign; the result wraps.
template <class F>
void map_pairs(const Step& s, Machine& m, F f) {
    const auto of = [&]<class T>(T) {
        map2<std::uint32_t, std::uint32_t>(s, m, [&](std::uint32_t a, std::uint32_t b) {
            const auto half = [&](int shift) {
                return std::uint32_t{static_cast<std::uint16_t>(
                           f(static_cast<T>(a >> shift), static_cast<T>(b >> shift)))}
                       << shift;
            };
            return half(0) | half(16);
        });
    };
    if (is_signed(s.form.type()))
        of(std::int16_t{});
    else
        of(std::uint16_t{});
}

}  // namespace wgrun::isa
