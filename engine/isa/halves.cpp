#include "isa/halves.hpp"

#include <cmath>
#include <limits>

#include "isa/families.hpp"
#include "isa/rounded.hpp"
#include "number/number.hpp"

namespace wgrun::isa {

using enum Type;

bool is_half(Type type) { return type == f16 || type == bf16 || type == f16x2 || type == bf16x2; }

std::vector<Row> half_rows(bool rounded) {
    Row with_ftz{{types({f16, f16x2}), flag(Field::ftz)}, {7, 8}};
    Row others{{types({bf16, bf16x2})}, {7, 8}};
    if (rounded) with_ftz.choices.push_back(flag(Field::sat));
    if (rounded)
        for (Row* row : {&with_ftz, &others})
            row->choices.push_back(spelled_as(Field::round, {"rn", "contract"}, "rn"));
    return {with_ftz, others};
}

HalfFormat::HalfFormat(Type type, const Form& form)
    : brain_(type == bf16 || type == bf16x2),
      flush_(form.get(Field::ftz, 0) == 1),
      limit_(form.get(Field::sat, 0) == 1) {}

double HalfFormat::number(std::uint16_t bits) const {
    const double value = brain_ ? from_bf16(bits) : from_f16(bits);
    constexpr double least_normal = 0x1p-14;
    return flush_ && std::abs(value) < least_normal ? std::copysign(0, value) : value;
}

std::uint16_t HalfFormat::bits(double value) const {
    if (limit_) value = saturated(value);
    if (std::isnan(value)) return half_nan;
    const std::uint16_t out = brain_ ? to_bf16(value) : to_f16(value);
    constexpr std::uint16_t exponent = 0x7C00, sign = 0x8000;
    return flush_ && (out & exponent) == 0 ? out & sign : out;
}

double sum_to_odd(double a, double b) {
    const double sum = a + b;
    const double back = sum - a;
    const double lost = (a - (sum - back)) + (b - back);
    if (!std::isfinite(sum) || lost == 0 || (std::bit_cast<std::uint64_t>(sum) & 1U) != 0) return sum;
    return std::nextafter(sum, lost > 0 ? HUGE_VAL : -HUGE_VAL);
}

}  // namespace wgrun::isa
