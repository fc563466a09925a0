#include "check/symbolic/extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

#include "check/symbolic/digits.hpp"

namespace wgrun::check::symbolic {
namespace {

class Bound {
  public:
    Bound(const Solver& solver, Accesses& of, const Access& access)
        : of_(of), access_(access), system_(solver, of.atoms) {
        for (const Formula condition : access.conditions) system_.add(condition, 0);
        for (const Polynomial& fact : access.facts) system_.add_positive(fact);
    }

    std::string add_to(Extents& out) {
        const Polynomial& at = access_.at.front();
        if (system_.empty()) return "";  // it is never executed
        if (!not_below_0(at)) return "whether it begins before its memory is not known";
        if (!aligned(out)) return "whether its address is aligned is not known";
        assume_multiples(out);
        const auto end = upper(at + access_.extent.front(), 0);
        if (!end) return "where it ends is not known in terms of the launch's numbers";
        auto& bytes = out.bytes[access_.param];
        // Those that another one is never less than are left out.
        const auto covers = [&](const Polynomial& one, const Polynomial& other) {
            const auto more = of_.atoms.least(one - other);
            return more && *more >= 0;
        };
        if (std::ranges::any_of(bytes, [&](const Polynomial& other) { return covers(other, *end); }))
            return "";
        std::erase_if(bytes, [&](const Polynomial& other) { return covers(*end, other); });
        bytes.push_back(*end);
        return "";
    }

    /// Of a number that is computed where the access would be.
    std::optional<Polynomial> bound_of(const Polynomial& number) { return upper(number, 0); }

  private:
    bool not_below_0(const Polynomial& number) {
        return of_.atoms.least(number).value_or(-1) >= 0 || system_.implies_positive(number);
    }

    /// A bound in terms of what is the same in all of a launch.
    std::optional<Polynomial> upper(const Polynomial& number, int depth) {
        constexpr int deepest = 4;
        if (of_.atoms.uniform(number)) return number;
        if (depth > deepest) return std::nullopt;
        for (const Atom by : number.atoms()) {
            if (!of_.atoms.uniform(by) || of_.atoms.least(Polynomial::of(by)).value_or(-1) < 0) continue;
            const auto [rows, columns] = number.split(by);
            if (of_.atoms.uniform(rows)) continue;
            const auto most_rows = upper(rows, depth + 1), rest = upper(columns, depth + 1);
            if (!most_rows || !rest) continue;
            return *most_rows * Polynomial::of(by) + *rest;
        }
        if (auto bound = linear_upper(number, depth)) return bound;
        return upper_of_digits(number, depth);
    }

    /// The sum of the greatest digits.
    std::optional<Polynomial> upper_of_digits(const Polynomial& number, int depth) {
        Polynomial out;
        for (const Digit& digit : digits_of(of_.atoms, number)) {
            const Polynomial signed_digit = digit.times < 0 ? Polynomial(0) - digit.number : digit.number;
            std::optional<Polynomial> greatest;
            if (of_.atoms.uniform(digit.number))
                greatest = signed_digit;
            else if (signed_digit != number)
                greatest = linear_upper(signed_digit, depth + 1);
            if (!greatest) return std::nullopt;
            out.add(*greatest, digit.times < 0 ? -digit.times : digit.times);
        }
        return out;
    }

    std::optional<Polynomial> linear_upper(const Polynomial& number, int depth) {
        std::vector<Polynomial> bounds = compared(number, depth);
        for (Polynomial& bound : system_.upper_bounds(number)) bounds.push_back(std::move(bound));
        if (const auto most = of_.atoms.most(number)) bounds.emplace_back(*most);
        // What the caller passes says more than how large the grid is.
        const auto grid = [&](const Polynomial& bound) {
            return std::ranges::count_if(bound.atoms(),
                                         [&](Atom atom) { return !of_.params.contains(atom); });
        };
        std::ranges::stable_sort(bounds, {}, [&](const Polynomial& bound) {
            return std::tuple(grid(bound), bound.terms().size());
        });
        std::optional<Polynomial> best;
        for (const Polynomial& bound : bounds) {
            const auto less = best && *best != bound ? of_.atoms.least(*best - bound) : std::nullopt;
            if (best && (grid(bound) > grid(*best) || less.value_or(-1) < 0)) continue;
            if (system_.implies_positive(bound - number)) best = bound;
        }
        return best;
    }

    /// Bounds from what conditions compare a part of the number with; the same without constants.
    std::vector<Polynomial> compared(const Polynomial& number, int depth) {
        std::vector<Polynomial> out;
        const auto look = [&](const Polynomial& positive) {
            // greater - less >= 0: `times` of it are added.
            const auto [negative, greater] = parts(positive);
            if (negative.terms().empty()) return;
            const auto& [monomial, divisor] = *negative.terms().begin();
            const std::int64_t share = number.coefficient(monomial);
            if (share == 0 || share % divisor != 0 || share / divisor > 0) return;
            const std::int64_t times = -share / divisor;
            Polynomial rest = number;
            rest.add(negative, times);
            const auto most = upper(rest, depth + 1);
            if (!most) return;
            for (const std::int64_t constant : {greater.constant(), std::int64_t{0}}) {
                Polynomial bound = greater - Polynomial(greater.constant() - constant);
                bound = bound * Polynomial(times) + *most;
                out.push_back(bound);
                out.push_back(bound - Polynomial(bound.constant()));
            }
        };
        for (const Formula condition : access_.conditions) of_.atoms.for_each_number(condition, look);
        return out;
    }

    /// What differs between executions, and what does not.
    std::pair<Polynomial, Polynomial> parts(const Polynomial& number) const {
        std::pair<Polynomial, Polynomial> out;
        for (const auto& [monomial, times] : number.terms()) {
            const bool varies =
                std::ranges::any_of(monomial, [&](Atom atom) { return !of_.atoms.uniform(atom); });
            (varies ? out.first : out.second).add(monomial, times);
        }
        return out;
    }

    /// Addresses are multiples of what is accessed (PTX ISA 6.4.1), bulk copies of 16 bytes (9.7.9.25.4.1).
    bool aligned(Extents& out) {
        std::int64_t unit = 16;
        if (!access_.later) {
            if (!access_.extent.front().is_constant()) return false;
            unit = access_.extent.front().constant();
        }
        std::vector<const Polynomial*> numbers{&access_.at.front()};
        if (access_.later) numbers.push_back(&access_.extent.front());
        for (const Polynomial* number : numbers)
            for (const auto& [monomial, times] : number->terms()) {
                const std::int64_t missing = unit / std::gcd(unit, times);
                if (missing == 1) continue;
                // A number of the launch is taken to be a multiple.
                const auto given =
                    std::ranges::find_if(monomial, [&](Atom atom) { return of_.atoms.uniform(atom); });
                if (given == monomial.end()) return false;
                std::int64_t& multiple = out.multiples[Polynomial::of(*given)];
                multiple = multiple == 0 ? missing : std::lcm(multiple, missing);
            }
        return true;
    }

    void assume_multiples(const Extents& out) {
        for (const auto& [number, multiple] : out.multiples) {
            const Atom times =
                of_.atoms.atom({.kind = Definition::Kind::number,
                                .name = fmt::format("{} / {}", of_.atoms.text(number), multiple)});
            system_.add_zero(number - Polynomial::of(times) * Polynomial(multiple));
        }
    }

    Accesses& of_;
    const Access& access_;
    System system_;
};

}  // namespace

std::optional<Polynomial> upper_bound(const Solver& solver, Accesses& of, const Narrow& number,
                                      std::vector<Polynomial> facts) try {
    Access there;
    there.conditions = number.conditions;
    there.facts = std::move(facts);
    return Bound(solver, of, there).bound_of(number.number);
} catch (const TooLarge&) {
    return std::nullopt;
}

std::string add_extent(const Solver& solver, Accesses& of, const Access& access, Extents& out) try {
    return Bound(solver, of, access).add_to(out);
} catch (const TooLarge&) {
    return "where it ends is not known in terms of the launch's numbers";
}

std::string Extents::text(const Atoms& atoms, const Program& program) const {
    std::string out;
    const auto add = [&](std::string_view item) {
        if (!out.empty()) out += ", ";
        out += item;
    };
    for (const auto& [param, ends] : bytes)
        for (const Polynomial& end : ends)
            add(fmt::format("{} holds {} bytes", program.params()[static_cast<std::size_t>(param)].name,
                            atoms.text(end)));
    for (const auto& [number, multiple] : multiples)
        add(fmt::format("{} is a multiple of {}", atoms.text(number), multiple));
    return out;
}

}  // namespace wgrun::check::symbolic
