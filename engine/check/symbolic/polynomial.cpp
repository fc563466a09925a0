#include "check/symbolic/polynomial.hpp"

#include <algorithm>
#include <numeric>

namespace wgrun::check::symbolic {

bool Polynomial::is_linear() const {
    return std::ranges::all_of(terms_, [](const auto& term) { return term.first.size() <= 1; });
}

std::set<Atom> Polynomial::atoms() const {
    std::set<Atom> out;
    for (const auto& [monomial, times] : terms_) out.insert(monomial.begin(), monomial.end());
    return out;
}

std::int64_t Polynomial::divisor(bool with_constant) const {
    std::int64_t out = 0;
    for (const auto& [monomial, times] : terms_)
        if (with_constant || !monomial.empty()) out = std::gcd(out, times);
    return out;
}

void Polynomial::add(const Monomial& monomial, std::int64_t times) {
    constexpr std::size_t most_terms = 64, most_factors = 4;
    if (times == 0) return;
    std::int64_t& term = terms_[monomial];
    if (__builtin_add_overflow(term, times, &term)) throw TooLarge();
    if (term == 0) terms_.erase(monomial);
    if (terms_.size() > most_terms || monomial.size() > most_factors) throw TooLarge();
}

void Polynomial::add(const Polynomial& other, std::int64_t times) {
    const Polynomial copy = &other == this ? other : Polynomial();
    for (const auto& [monomial, coefficient] : (&other == this ? copy : other).terms_) {
        std::int64_t more = 0;
        if (__builtin_mul_overflow(coefficient, times, &more)) throw TooLarge();
        add(monomial, more);
    }
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
    Polynomial out = *this;
    out.add(other);
    return out;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
    Polynomial out = *this;
    out.add(other, -1);
    return out;
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
    Polynomial out;
    for (const auto& [a, times_a] : terms_)
        for (const auto& [b, times_b] : other.terms_) {
            Monomial both;
            std::ranges::merge(a, b, std::back_inserter(both));
            std::int64_t times = 0;
            if (__builtin_mul_overflow(times_a, times_b, &times)) throw TooLarge();
            out.add(both, times);
        }
    return out;
}

Polynomial Polynomial::over(std::int64_t divisor) const {
    Polynomial out = *this;
    for (auto& [monomial, times] : out.terms_) times /= divisor;
    return out;
}

std::pair<Polynomial, Polynomial> Polynomial::split(Atom by) const {
    std::pair<Polynomial, Polynomial> out;
    for (const auto& [monomial, times] : terms_) {
        const auto at = std::ranges::find(monomial, by);
        if (at == monomial.end()) {
            out.second.add(monomial, times);
            continue;
        }
        Monomial rest = monomial;
        rest.erase(rest.begin() + (at - monomial.begin()));
        out.first.add(rest, times);
    }
    return out;
}

Polynomial Polynomial::with(Atom atom, const Polynomial& value) const {
    const auto [times, rest] = split(atom);
    if (times.terms_.empty()) return *this;
    return times.with(atom, value) * value + rest;
}

}  // namespace wgrun::check::symbolic
