#include "check/symbolic/apart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/symbolic/digits.hpp"

namespace wgrun::check::symbolic {
namespace {

class Meeting {
  public:
    Meeting(const Solver& solver, const Accesses& of, const Access& a, const Access& b)
        : solver_(solver), of_(of), a_(a), b_(b) {
        // Accesses of a thread are in order, but for those of the bulk-copy engine.
        same_thread_ = !a.later && !b.later;
        excused_ = of.places;
        if (!same_thread_) excused_.insert(excused_.end(), a.turns.begin(), a.turns.end());
    }

    std::string reason(std::set<std::string>& flat) {
        constexpr int most_rounds = 16;
        for (int round = 0; round < most_rounds; ++round) {
            System system = assumed();
            if (system.empty()) return "";
            if (learn(system)) continue;
            if ((same_thread_ || &a_ == &b_) &&
                std::ranges::all_of(excused_, [&](Atom atom) { return same(atom); }))
                return "";
            break;
        }
        std::set<std::string> unread;
        std::string out;
        for (const Atom atom : excused_)
            if (const auto size = of_.unread.find(atom); !same(atom) && size != of_.unread.end())
                unread.insert(size->second);
            else if (!same(atom))
                out += fmt::format("{}{}", out.empty() ? "" : ", ", of_.atoms.text(atom));
        if (out.empty() && unread.empty()) return "one thread";
        if (out.empty()) flat.insert(unread.begin(), unread.end());
        return out;
    }

  private:
    bool same(Atom atom) const { return of_.atoms.uniform(atom) || same_.contains(atom); }

    System assumed() const {
        System out(solver_, of_.atoms);
        for (const Atom atom : same_) out.unify(atom);
        for (const Formula condition : a_.conditions) out.add(condition, 0);
        for (const Formula condition : b_.conditions) out.add(condition, 1);
        for (const Polynomial& fact : a_.facts) out.add_positive(fact);
        for (const Polynomial& fact : b_.facts) out.add_positive(out.in(1, fact));
        for (std::size_t dim = 0; dim < a_.at.size(); ++dim) {
            const Polynomial between = difference(out, dim);
            out.add_positive(a_.extent[dim] + between - Polynomial(1));
            out.add_positive(out.in(1, b_.extent[dim]) - between - Polynomial(1));
        }
        for (const Polynomial& equation : equations_) out.add_zero(renamed(equation));
        // What identifies an execution.
        for (const Atom atom : excused_) out.mention(Polynomial::of(atom));
        return out;
    }

    /// From where b begins to where a does.
    Polynomial difference(const System& system, std::size_t dim) const {
        return a_.at[dim] - system.in(1, b_.at[dim]);
    }

    /// An equation in which some atoms were different.
    Polynomial renamed(const Polynomial& equation) const {
        const auto count = static_cast<Atom>(of_.atoms.size());
        return equation.renamed(
            [&](Atom atom) { return atom >= count && same(atom - count) ? atom - count : atom; });
    }

    /// Finds atoms that are equal, and equations. Returns whether it has found any.
    bool learn(System& system) {
        const std::size_t equal = same_.size(), equations = equations_.size();
        std::vector<Atom> open;
        std::vector<Polynomial> candidates;
        for (const Atom atom : system.mentioned())
            if (!same(atom)) {
                open.push_back(atom);
                candidates.push_back(Polynomial::of(atom) - system.in(1, Polynomial::of(atom)));
            }
        for (std::size_t dim = 0; dim < a_.at.size(); ++dim) {
            const Polynomial between = difference(system, dim);
            if (aligned_alike(dim))
                add(between);
            else
                candidates.push_back(between);
        }
        const std::vector<bool> zero = system.zeros(candidates);
        for (std::size_t i = 0; i < candidates.size(); ++i)
            if (zero[i]) {
                if (i < open.size())
                    same_.insert(open[i]);
                else
                    add(candidates[i]);
            }
        for (const Atom atom : open)
            if (is_function_of_same(atom)) same_.insert(atom);
        for (std::size_t i = 0; i < equations_.size(); ++i) split(system, renamed(equations_[i]));
        const auto nothing_new = [&] { return same_.size() == equal && equations_.size() == equations; };
        for (std::size_t i = 0; nothing_new() && i < equations; ++i)
            split(renamed(equations_[i]),
                  [&](const Polynomial& number) { return system.implies_positive(number); });
        if (nothing_new()) find_between(system);
        return same_.size() != equal || equations_.size() != equations;
    }

    /// Places and turns that products alone show to be equal: -n < (x - y) * n < n.
    void find_between(System& system) {
        for (const Atom atom : excused_) {
            if (same(atom)) continue;
            const Polynomial more = Polynomial::of(atom) - system.in(1, Polynomial::of(atom));
            if (system.implies_positive(more) && system.implies_positive(Polynomial(0) - more))
                same_.insert(atom);
        }
    }

    /// Accesses of as many bytes, which both begin at multiples of that: they meet where they begin at the
    /// same.
    bool aligned_alike(std::size_t dim) const {
        return a_.at.size() == 1 && !a_.later && !b_.later && a_.extent[dim] == b_.extent[dim];
    }

    void add(const Polynomial& equation) {
        Polynomial of = renamed(equation);
        if (of.terms().empty()) return;
        if (const std::int64_t divisor = of.divisor(); divisor > 1) of = of.over(divisor);
        if (std::ranges::find(equations_, of) == equations_.end()) equations_.push_back(std::move(of));
    }

    bool is_function_of_same(Atom atom) const {
        const Definition& of = of_.atoms[atom];
        using enum Definition::Kind;
        if (of.kind != quotient && of.kind != choice && of.kind != function) return false;
        bool out = true;
        const auto check = [&](const Polynomial& part) {
            for (const Atom other : part.atoms()) out = out && same(other);
        };
        for (const Polynomial& part : of.parts) check(part);
        if (of.kind == choice) of_.atoms.for_each_number(of.condition, check);
        return out;
    }

    /// The row-major argument with constants. positive: whether a number is not below 0.
    template <class Positive>
    bool split(const Polynomial& equation, Positive positive) {
        const auto parts = split_by_digits(of_.atoms, equation, positive);
        if (!parts) return false;
        add(parts->first);
        add(parts->second);
        return true;
    }

    /// The same, and with numbers of the launch.
    void split(System& system, const Polynomial& equation) {
        if (split(equation, [](const Polynomial&) { return false; }) || equation.is_linear()) return;
        for (const Atom by : equation.atoms()) {
            // Numbers of the second execution are not of the launch.
            if (by >= static_cast<Atom>(of_.atoms.size()) || !of_.atoms.uniform(by) ||
                of_.atoms.least(Polynomial::of(by)).value_or(0) < 1)
                continue;
            const auto [rows, columns] = equation.split(by);
            if (rows.is_constant()) continue;
            const Polynomial last = Polynomial::of(by) - Polynomial(1);
            if (!system.implies_positive(last - columns) || !system.implies_positive(last + columns))
                continue;
            add(rows);
            add(columns);
            return;
        }
    }

    const Solver& solver_;
    const Accesses& of_;
    const Access &a_, &b_;
    bool same_thread_ = false;
    std::vector<Atom> excused_;
    std::set<Atom> same_;
    std::vector<Polynomial> equations_;
};

}  // namespace

std::string meeting(const Solver& solver, const Accesses& of, const Access& a, const Access& b,
                    std::set<std::string>& flat) {
    return Meeting(solver, of, a, b).reason(flat);
}

}  // namespace wgrun::check::symbolic
