// Polynomials over the integers, by which addresses depend on threads, CTAs, turns of loops and parameters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace wgrun::check::symbolic {

/// A number that a polynomial is made of; what it is, Atoms know (atoms.hpp).
using Atom = int;
/// A product of atoms, in order; empty: 1.
using Monomial = std::vector<Atom>;

/// A coefficient does not fit, or there are too many terms: nothing is known of the value.
struct TooLarge : std::runtime_error {
    TooLarge() : std::runtime_error("a polynomial is too large") {}
};

class Polynomial {
  public:
    Polynomial() = default;
    Polynomial(std::int64_t constant) {
        if (constant != 0) terms_[{}] = constant;
    }
    static Polynomial of(Atom atom) {
        Polynomial out;
        out.terms_[{atom}] = 1;
        return out;
    }

    const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
    std::int64_t constant() const { return coefficient({}); }
    std::int64_t coefficient(const Monomial& of) const {
        const auto at = terms_.find(of);
        return at == terms_.end() ? 0 : at->second;
    }
    bool is_constant() const {
        return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
    }
    bool is_linear() const;
    std::set<Atom> atoms() const;
    /// The greatest number that divides all coefficients but, if asked for, the constant; 0: there is none.
    std::int64_t divisor(bool with_constant = true) const;

    /// Adds `times` times another one. Throws TooLarge.
    void add(const Polynomial& other, std::int64_t times = 1);
    void add(const Monomial& monomial, std::int64_t times);
    Polynomial operator+(const Polynomial& other) const;
    Polynomial operator-(const Polynomial& other) const;
    Polynomial operator*(const Polynomial& other) const;
    /// Divides all coefficients, which must be multiples.
    Polynomial over(std::int64_t divisor) const;
    /// What is multiplied by the atom, and what is not.
    std::pair<Polynomial, Polynomial> split(Atom by) const;
    /// Each atom is another one.
    template <class Map>
    Polynomial renamed(Map map) const {
        Polynomial out;
        for (const auto& [monomial, times] : terms_) {
            Monomial other;
            for (const Atom atom : monomial) other.push_back(map(atom));
            std::ranges::sort(other);
            out.add(other, times);
        }
        return out;
    }
    /// The atom is a polynomial.
    Polynomial with(Atom atom, const Polynomial& value) const;

    auto operator<=>(const Polynomial&) const = default;

  private:
    std::map<Monomial, std::int64_t> terms_;
};

}  // namespace wgrun::check::symbolic
