#include "check/symbolic/digits.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace wgrun::check::symbolic {
namespace {

class Digits {
  public:
    Digits(const Atoms& atoms, const Polynomial& sum) : atoms_(atoms), left_(sum) {
        // Quotients by the numbers that are divided, and by divisors.
        std::map<std::pair<Atom, int>, std::map<std::int64_t, Atom>> divided;
        for (const Atom atom : sum.atoms()) {
            const Definition& of = atoms_[base(atom)];
            if (of.kind != Definition::Kind::quotient || !of.parts[1].is_constant()) continue;
            const auto& dividend = of.parts[0].terms();
            if (dividend.size() != 1 || dividend.begin()->first.size() != 1 || dividend.begin()->second != 1)
                continue;
            divided[{dividend.begin()->first.front(), execution(atom)}][of.parts[1].constant()] = atom;
        }
        for (const auto& [number, quotients] : divided)
            divide(number.first + number.second * size(), quotients);
        for (const auto& [monomial, times] : left_.terms()) {
            Digit digit{times, {}};
            digit.number.add(monomial, 1);
            if (monomial.empty()) {
                digit.least = digit.most = 1;
            } else if (monomial.size() == 1) {
                const Polynomial alone = Polynomial::of(base(monomial.front()));
                digit.least = atoms_.least(alone);
                digit.most = atoms_.most(alone);
            }
            list_.push_back(std::move(digit));
        }
    }
    std::vector<Digit> list() && { return std::move(list_); }

  private:
    Atom size() const { return static_cast<Atom>(atoms_.size()); }
    Atom base(Atom of) const { return of % size(); }
    int execution(Atom of) const { return of / size(); }

    /// a * x + b * (x / 4) is a * (x - 4 * (x / 4)) + (4 * a + b) * (x / 4); and so on with x / 4 and x / 32.
    void divide(Atom number, const std::map<std::int64_t, Atom>& quotients) {
        std::int64_t by = 1;
        for (const auto& [divisor, quotient] : quotients) {
            if (divisor % by != 0) return;
            const std::int64_t times = left_.coefficient({number}), share = divisor / by;
            if (times != 0) {
                Digit digit{times, Polynomial::of(number), 0, share - 1};
                digit.number.add(Monomial{quotient}, -share);
                left_.add(digit.number, -times);
                list_.push_back(std::move(digit));
            }
            number = quotient;
            by = divisor;
        }
    }

    const Atoms& atoms_;
    Polynomial left_;
    std::vector<Digit> list_;
};

/// Whether |sum of the digits| < limit, as their ranges tell.
bool is_below(const std::vector<const Digit*>& digits, std::int64_t limit) {
    std::int64_t least = 0, most = 0;
    for (const Digit* digit : digits) {
        const auto &low = digit->times > 0 ? digit->least : digit->most,
                   &high = digit->times > 0 ? digit->most : digit->least;
        std::int64_t product = 0;
        if (!low || __builtin_mul_overflow(digit->times, *low, &product) ||
            __builtin_add_overflow(least, product, &least))
            return false;
        if (!high || __builtin_mul_overflow(digit->times, *high, &product) ||
            __builtin_add_overflow(most, product, &most))
            return false;
    }
    return least > -limit && most < limit;
}

}  // namespace

std::vector<Digit> digits_of(const Atoms& atoms, const Polynomial& sum) { return Digits(atoms, sum).list(); }

std::optional<std::pair<Polynomial, Polynomial>> split_by_digits(
    const Atoms& atoms, const Polynomial& sum, const std::function<bool(const Polynomial&)>& positive) {
    const std::vector<Digit> digits = digits_of(atoms, sum);
    std::vector<std::int64_t> weights;
    for (const Digit& digit : digits) {
        if (digit.times == INT64_MIN) return std::nullopt;
        weights.push_back(std::abs(digit.times));
    }
    std::ranges::sort(weights);
    const auto repeated = std::ranges::unique(weights);
    weights.erase(repeated.begin(), repeated.end());
    for (const std::int64_t weight : weights) {
        std::pair<Polynomial, Polynomial> out;
        std::vector<const Digit*> lower;
        for (const Digit& digit : digits) {
            const bool is_lower = digit.times % weight != 0;
            if (is_lower) lower.push_back(&digit);
            (is_lower ? out.second : out.first).add(digit.number, digit.times);
        }
        if (lower.empty() || out.first.terms().empty()) continue;
        const Polynomial last(weight - 1);
        if (is_below(lower, weight) || (positive(last - out.second) && positive(last + out.second)))
            return out;
    }
    return std::nullopt;
}

}  // namespace wgrun::check::symbolic
