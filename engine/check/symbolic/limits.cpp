#include "check/symbolic/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "check/symbolic/extents.hpp"
#include "check/symbolic/launch_numbers.hpp"

namespace wgrun::check::symbolic {
namespace {

/// What docs/verdicts.md assumes of each number of a launch and of the turns of a loop: it is no more.
constexpr double most_of_numbers = (1 << 30) - 1;
constexpr std::size_t longest_text = 60;

class Limits {
  public:
    explicit Limits(Accesses& of) : of_(of) {
        for (const Access& access : of.list) {
            for (const auto* numbers : {&access.at, &access.extent})
                for (const Polynomial& number : *numbers) use(number);
            for (const Formula condition : access.conditions)
                of_.atoms.for_each_number(condition, [&](const Polynomial& number) { use(number); });
        }
    }

    /// Whether an access depends on it, as far as its atoms show.
    bool matters(const Polynomial& number) const {
        return std::ranges::all_of(number.atoms(), [&](Atom atom) { return used_.contains(atom); });
    }

    /// A bound of each of its terms, where the solver finds none of the whole.
    std::optional<Polynomial> upper(const Polynomial& number, int depth = 0) const {
        constexpr int deepest = 6;
        Polynomial out;
        for (const auto& [monomial, times] : number.terms()) {
            Polynomial product(1);
            bool counts = true;
            for (const Atom atom : monomial) {
                if (of_.atoms.least(Polynomial::of(atom)).value_or(-1) < 0) return std::nullopt;
                if (times < 0) counts = false;  // at least 0
                if (!counts) break;
                const auto its = depth < deepest ? upper(atom, depth) : std::nullopt;
                if (!its) return std::nullopt;
                product = product * *its;
            }
            if (counts) out.add(product, times);
        }
        return out;
    }

    /// What is computed at a line is at most `end`, which is to be at most `most`; nothing, or a constant: no
    /// number of the launch bounds it.
    void add(int line, const std::optional<Polynomial>& end, std::int64_t most) {
        if (!end) {
            lines_.insert(line);
            return;
        }
        if (const auto value = greatest(*end); value && *value <= static_cast<double>(most)) return;
        const Polynomial varying = *end - Polynomial(end->constant());
        if (varying == Polynomial() || of_.atoms.text(varying).size() > longest_text) {
            lines_.insert(line);
            return;
        }
        // Those that another one implies are left out.
        const Sum sum{varying, most - end->constant()};
        if (std::ranges::any_of(sums_, [&](const Sum& other) { return implies(other, sum); })) return;
        std::erase_if(sums_, [&](const Sum& other) { return implies(sum, other); });
        sums_.push_back(sum);
    }

    std::vector<LaunchLimit> list() const {
        std::vector<LaunchLimit> out;
        for (const Sum& sum : sums_) {
            const std::int64_t times =
                sum.number.terms().size() == 1 ? sum.number.terms().begin()->second : 1;
            const Polynomial number = sum.number.over(times);
            const std::int64_t most = sum.room / times;
            out.push_back({fmt::format("{} <= {}", of_.atoms.text(number), power(most)),
                           launch_number(of_, number).value_or(LaunchNumber()), most});
        }
        if (!lines_.empty())
            out.push_back({fmt::format("no number of line{} {} wraps around", lines_.size() > 1 ? "s" : "",
                                       fmt::join(lines_, ", "))});
        return out;
    }

  private:
    struct Sum {
        Polynomial number;  ///< without a constant
        std::int64_t room;  ///< it is no more
    };

    /// Whether each term of `other` that adds to it is a part of one of `sum`: numbers of a launch are at
    /// least 1.
    static bool implies(const Sum& sum, const Sum& other) {
        const auto &terms = sum.number.terms(), &others = other.number.terms();
        if (terms == others) return sum.room <= other.room;
        if (terms.size() == 1 && others.size() == 1 && terms.begin()->first == others.begin()->first)
            return sum.room / terms.begin()->second <= other.room / others.begin()->second;
        std::int64_t difference = 0;  // at least
        auto left = sum.number.terms();
        for (const auto& term : other.number.terms()) {
            if (term.second < 0) continue;
            const auto larger = std::ranges::find_if(left, [&](const auto& its) {
                return its.second >= term.second && std::includes(its.first.begin(), its.first.end(),
                                                                  term.first.begin(), term.first.end());
            });
            if (larger == left.end()) return false;
            difference += larger->second - term.second;
            left.erase(larger);
        }
        for (const auto& [monomial, times] : left) {
            if (times < 0) return false;
            difference += times;
        }
        for (const auto& [monomial, times] : other.number.terms())
            if (times < 0) difference -= times;
        return difference >= sum.room - other.room;
    }

    void use(const Polynomial& number) {
        for (const Atom atom : number.atoms()) {
            if (!used_.insert(atom).second) continue;
            const Definition of = of_.atoms[atom];
            for (const Polynomial& part : of.parts) use(part);
            if (of.kind == Definition::Kind::choice)
                of_.atoms.for_each_number(of.condition, [&](const Polynomial& part) { use(part); });
        }
    }

    std::optional<Polynomial> upper(Atom atom, int depth) const {
        using enum Definition::Kind;
        const Definition of = of_.atoms[atom];
        if (of_.atoms.uniform(atom)) return Polynomial::of(atom);
        if (of.most) return Polynomial(*of.most);
        if (of.kind == place && of.below && of_.atoms.uniform(*of.below)) return *of.below - Polynomial(1);
        if (of.kind == quotient && of.parts[1].is_constant()) {
            const auto dividend = upper(of.parts[0], depth + 1);
            if (!dividend) return std::nullopt;
            if (dividend->is_constant()) return Polynomial(dividend->constant() / of.parts[1].constant());
            return Polynomial::of(of_.atoms.atom(
                {.kind = quotient, .name = {}, .parts = {*dividend, of.parts[1]}, .least = 0}));
        }
        if (of.kind != choice) return std::nullopt;
        const auto one = upper(of.parts[0], depth + 1), other = upper(of.parts[1], depth + 1);
        const bool positive = one && other && of_.atoms.least(*one).value_or(-1) >= 0 &&
                              of_.atoms.least(*other).value_or(-1) >= 0;
        return positive ? std::optional(*one + *other) : std::nullopt;
    }

    std::optional<double> greatest(const Polynomial& number) const {
        double sum = 0;
        for (const auto& [monomial, times] : number.terms()) {
            auto value = static_cast<double>(times);
            for (const Atom atom : monomial) {
                const auto its = greatest(atom);
                if (!its) return std::nullopt;
                value *= *its;
            }
            sum += monomial.empty() ? value : std::max(value, 0.0);
        }
        return sum;
    }

    std::optional<double> greatest(Atom atom) const {
        using enum Definition::Kind;
        const Definition& of = of_.atoms[atom];
        if (of.most) return static_cast<double>(*of.most);
        if (of.kind == number || of.kind == place) return most_of_numbers;
        if (of.kind != quotient || !of.parts[1].is_constant()) return std::nullopt;
        const auto dividend = greatest(of.parts[0]);
        return dividend ? std::optional(*dividend / static_cast<double>(of.parts[1].constant()))
                        : std::nullopt;
    }

    static std::string power(std::int64_t limit) {
        for (const int exponent : {31, 32})
            if (limit == std::int64_t{1} << exponent) return fmt::format("2^{}", exponent);
        return fmt::format("{}", limit);
    }

    Accesses& of_;
    std::set<Atom> used_;  ///< by accesses and their conditions
    std::vector<Sum> sums_;
    std::set<int> lines_;
};

}  // namespace

std::vector<LaunchLimit> limits(
    const Solver& solver, Accesses& of,
    const std::function<std::vector<Polynomial>(const std::vector<Formula>&)>& facts) {
    Limits out(of);
    for (const Narrow& number : of.narrow)
        if (out.matters(number.number)) {
            std::optional<Polynomial> end = upper_bound(solver, of, number, facts(number.conditions));
            if (!end) end = out.upper(number.number);
            out.add(number.where.line, end, number.most);
        }
    return out.list();
}

}  // namespace wgrun::check::symbolic
