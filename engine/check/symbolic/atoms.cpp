#include "check/symbolic/atoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wgrun::check::symbolic {

Atom Atoms::atom(Definition definition) {
    const auto [at, added] = found_.try_emplace(definition, static_cast<Atom>(atoms_.size()));
    if (!added) return at->second;
    using enum Definition::Kind;
    const bool computed =
        definition.kind == quotient || definition.kind == choice || definition.kind == function;
    bool is_uniform = definition.kind == number;
    if (computed) {
        is_uniform =
            std::ranges::all_of(definition.parts, [&](const Polynomial& part) { return uniform(part); });
        if (definition.kind == choice) is_uniform = is_uniform && uniform(definition.condition);
    }
    uniform_.push_back(is_uniform);
    atoms_.push_back(std::move(definition));
    return at->second;
}

bool Atoms::uniform(const Polynomial& of) const {
    return std::ranges::all_of(of.terms(), [&](const auto& term) {
        return std::ranges::all_of(term.first, [&](Atom atom) { return uniform(atom); });
    });
}

bool Atoms::uniform(Formula of) const {
    bool out = true;
    for_each_number(of, [&](const Polynomial& number) { out = out && uniform(number); });
    return out;
}

std::optional<std::int64_t> Atoms::bound(Atom atom, bool upper) const {
    const Definition& of = (*this)[atom];
    if (const auto& given = upper ? of.most : of.least) return given;
    if (of.kind == Definition::Kind::quotient) {
        // The quotient grows with the dividend and falls with the divisor, which is above 0.
        const auto divided = bound(of.parts[0], upper), by = bound(of.parts[1], !upper);
        if (divided && *divided >= 0 && by && *by > 0) return *divided / *by;
        if (!upper) return divided && *divided >= 0 ? std::optional<std::int64_t>(0) : std::nullopt;
    }
    if (of.kind == Definition::Kind::choice) {
        const auto a = bound(of.parts[0], upper), b = bound(of.parts[1], upper);
        if (a && b) return upper ? std::max(*a, *b) : std::min(*a, *b);
    }
    if (upper && of.below)
        if (const auto limit = bound(*of.below, true)) return *limit - 1;
    return std::nullopt;
}

std::optional<std::int64_t> Atoms::bound(const Polynomial& of, bool upper) const {
    std::int64_t sum = 0;
    for (const auto& [monomial, times] : of.terms()) {
        std::int64_t product = times;
        for (const Atom atom : monomial) {
            // A product of several is bounded where none is below 0.
            if (monomial.size() > 1 && bound(atom, false).value_or(-1) < 0) return std::nullopt;
            const auto its = bound(atom, upper == (times > 0));
            if (!its || __builtin_mul_overflow(product, *its, &product)) return std::nullopt;
        }
        if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
    }
    return sum;
}

Formula Atoms::formula(Condition condition) {
    const auto [at, added] = found_conditions_.try_emplace(condition, Formula(conditions_.size()));
    if (added) conditions_.push_back(std::move(condition));
    return at->second;
}

Formula Atoms::positive(Polynomial number) {
    if (number.is_constant()) return number.constant() >= 0 ? yes : negated(yes);
    return formula({Condition::Kind::positive, std::move(number), {}});
}

Formula Atoms::zero(Polynomial number) {
    if (number.is_constant()) return number.constant() == 0 ? yes : negated(yes);
    return formula({Condition::Kind::zero, std::move(number), {}});
}

Formula Atoms::both(Formula a, Formula b) {
    const Formula no = negated(yes);
    if (a == no || b == no) return no;
    if (a == yes || a == b) return b;
    if (b == yes) return a;
    return formula({Condition::Kind::all, {}, {a, b}});
}

Formula Atoms::either(Formula a, Formula b) {
    const Formula no = negated(yes);
    if (a == yes || b == yes) return yes;
    if (a == no || a == b) return b;
    if (b == no) return a;
    return formula({Condition::Kind::any, {}, {a, b}});
}

Formula Atoms::negated(Formula a) {
    const Condition& of = (*this)[a];
    if (of.kind == Condition::Kind::negated) return of.parts.front();
    return formula({Condition::Kind::negated, {}, {a}});
}

std::string Atoms::text(Atom atom) const {
    const Definition& of = (*this)[atom];
    using enum Definition::Kind;
    switch (of.kind) {
        case quotient: {
            const auto in_brackets = [&](const Polynomial& part) {
                const bool simple = part.terms().size() == 1 && !part.is_constant() &&
                                    part.terms().begin()->first.size() == 1 &&
                                    part.terms().begin()->second == 1;
                return simple || part.is_constant() ? text(part) : fmt::format("({})", text(part));
            };
            return fmt::format("{} / {}", in_brackets(of.parts[0]), in_brackets(of.parts[1]));
        }
        case choice: return fmt::format("({} or {})", text(of.parts[0]), text(of.parts[1]));
        default: return of.name.empty() ? "some number" : of.name;
    }
}

std::string Atoms::text(const Polynomial& of) const {
    std::string out;
    const auto add = [&](const Monomial& monomial, std::int64_t times) {
        if (out.empty())
            out += times < 0 ? "-" : "";
        else
            out += times < 0 ? " - " : " + ";
        const std::uint64_t size =
            times < 0 ? -static_cast<std::uint64_t>(times) : static_cast<std::uint64_t>(times);
        std::string product = size != 1 || monomial.empty() ? fmt::format("{}", size) : "";
        for (const Atom atom : monomial) {
            const bool brackets =
                (*this)[atom].kind == Definition::Kind::quotient && (monomial.size() > 1 || size != 1);
            if (!product.empty()) product += " * ";
            product += brackets ? fmt::format("({})", text(atom)) : text(atom);
        }
        out += product;
    };
    for (const auto& [monomial, times] : of.terms())
        if (!monomial.empty()) add(monomial, times);
    if (const std::int64_t constant = of.constant(); constant != 0 || out.empty()) add({}, constant);
    return out;
}

}  // namespace wgrun::check::symbolic
