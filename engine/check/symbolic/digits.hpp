// Numbers that are put together of digits, as addresses are: 8 * x + y with y from 0 to 7.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "check/symbolic/atoms.hpp"

namespace wgrun::check::symbolic {

/// times * number, which lies in a range as far as its atoms show.
struct Digit {
    std::int64_t times = 0;
    Polynomial number;
    std::optional<std::int64_t> least{}, most{};
};

/// A sum as digits: what a number leaves when it is divided is one, as t - 4 * (t / 4). Its atoms are those
/// of two executions, the second one's greater by their number.
std::vector<Digit> digits_of(const Atoms& atoms, const Polynomial& sum);

/// Of a sum that is 0: two parts of it that are 0 by themselves, as 8 * x and y where |y| < 8. Nothing: no
/// constant shows any. Its atoms are those of two executions, the second one's greater by their number; what
/// a number leaves when it is divided, as t - 4 * (t / 4), is a digit. positive: whether a number is not
/// below 0.
std::optional<std::pair<Polynomial, Polynomial>> split_by_digits(
    const Atoms& atoms, const Polynomial& sum, const std::function<bool(const Polynomial&)>& positive);

}  // namespace wgrun::check::symbolic
