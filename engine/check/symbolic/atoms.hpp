// The numbers that values are made of, and conditions on them. Equal definitions are one atom, so that what
// two roles compute alike is alike.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/symbolic/polynomial.hpp"

namespace wgrun::check::symbolic {

/// A condition on atoms; what it is, Atoms know.
enum class Formula : int {};

struct Definition {
    enum class Kind : std::uint8_t {
        number,    ///< of the launch: a parameter, the size of the grid
        place,     ///< of a thread or a CTA, or the turn of a loop
        quotient,  ///< of parts[0] by parts[1], rounded down; the latter is at least 1
        choice,    ///< parts[0] where the condition holds, else parts[1]
        function,  ///< some number, the same for the same parts
        unknown    ///< some number
    };
    Kind kind = Kind::unknown;
    std::string name;  ///< "n", "ctaid.x"; function: which
    int key = 0;       ///< of two unknown ones with the same name
    std::vector<Polynomial> parts{};
    Formula condition{};
    std::optional<std::int64_t> least{}, most{};
    std::optional<Polynomial> below{};  ///< it is less
    auto operator<=>(const Definition&) const = default;
};

struct Condition {
    enum class Kind : std::uint8_t {
        yes,
        positive,  ///< not below 0: `number`
        zero,      ///< `number`
        open,      ///< some truth, the same for the same atom: `number` is not 0
        all,
        any,
        negated
    };
    Kind kind = Kind::yes;
    Polynomial number{};
    std::vector<Formula> parts{};
    auto operator<=>(const Condition&) const = default;
};

class Atoms {
  public:
    Atoms() { formula({}); }

    /// Returns the atom that is defined so. Bounds of one that is there already are kept.
    Atom atom(Definition definition);
    const Definition& operator[](Atom atom) const { return atoms_[static_cast<std::size_t>(atom)]; }
    std::size_t size() const { return atoms_.size(); }
    /// Whether it is one number in all of a launch.
    bool uniform(Atom atom) const { return uniform_[static_cast<std::size_t>(atom)]; }
    bool uniform(const Polynomial& of) const;
    bool uniform(Formula of) const;
    /// Bounds that hold whatever the launch is; nothing: it has none, as far as is seen at once.
    std::optional<std::int64_t> least(const Polynomial& of) const { return bound(of, false); }
    std::optional<std::int64_t> most(const Polynomial& of) const { return bound(of, true); }

    Formula formula(Condition condition);
    const Condition& operator[](Formula formula) const {
        return conditions_[static_cast<std::size_t>(formula)];
    }
    static constexpr Formula yes{};
    Formula positive(Polynomial number);
    Formula zero(Polynomial number);
    Formula open(Atom atom) { return formula({Condition::Kind::open, Polynomial::of(atom), {}}); }
    Formula both(Formula a, Formula b);
    Formula either(Formula a, Formula b);
    Formula negated(Formula a);
    /// Calls visit(Polynomial) for each number that the condition compares.
    template <class Visit>
    void for_each_number(Formula of, Visit visit) const {
        const Condition& condition = (*this)[of];
        visit(condition.number);
        for (const Formula part : condition.parts) for_each_number(part, visit);
    }

    /// "n * m - 4"
    std::string text(const Polynomial& of) const;
    std::string text(Atom atom) const;

  private:
    std::optional<std::int64_t> bound(const Polynomial& of, bool upper) const;
    std::optional<std::int64_t> bound(Atom atom, bool upper) const;

    std::deque<Definition> atoms_;  // which others refer to while there come more
    std::vector<bool> uniform_;
    std::map<Definition, Atom> found_;
    std::deque<Condition> conditions_;
    std::map<Condition, Formula> found_conditions_;
};

}  // namespace wgrun::check::symbolic
