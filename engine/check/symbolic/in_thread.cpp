#include "check/symbolic/in_thread.hpp"

#include <algorithm>

namespace wgrun::check::symbolic {

InThread::InThread(Atoms& atoms, Dim3 block, int thread)
    : atoms_(atoms),
      place_{thread % std::int64_t{block.x}, thread / std::int64_t{block.x} % block.y,
             thread / (std::int64_t{block.x} * block.y)} {}

std::optional<Polynomial> InThread::number(const Polynomial& of) {
    Polynomial out;
    for (const auto& [monomial, times] : of.terms()) {
        Polynomial product(times);
        for (const Atom one : monomial) {
            const std::optional<Polynomial> its = atom(one);
            if (!its) return std::nullopt;
            product = product * *its;
        }
        out.add(product);
    }
    return out;
}

std::optional<Polynomial> InThread::atom(Atom atom) {
    constexpr std::array names{"tid.x", "tid.y", "tid.z"};
    const Definition of = atoms_[atom];
    using enum Definition::Kind;
    switch (of.kind) {
        case number: return Polynomial::of(atom);
        case place: {
            const auto at = std::ranges::find(names, of.name);
            if (at == names.end()) return Polynomial::of(atom);
            return place_.at(static_cast<std::size_t>(at - names.begin()));
        }
        case quotient: {
            const auto a = this->number(of.parts[0]), b = this->number(of.parts[1]);
            if (a == of.parts[0] && b == of.parts[1]) return Polynomial::of(atom);
            return a && b ? this->quotient(*a, *b) : std::nullopt;
        }
        case choice: return this->choice(of);
        case function:
            for (const Polynomial& part : of.parts)
                if (this->number(part) != part) return std::nullopt;
            return Polynomial::of(atom);
        case unknown: return std::nullopt;
    }
    return std::nullopt;
}

/// Rounded down; the divisor is at least 1. What is a multiple of it is divided by itself.
std::optional<Polynomial> InThread::quotient(const Polynomial& a, const Polynomial& b) {
    if (!b.is_constant()) {
        if (!a.is_constant()) return std::nullopt;
        return Polynomial::of(atoms_.atom({.kind = Definition::Kind::quotient, .name = "", .parts = {a, b}}));
    }
    const std::int64_t by = b.constant();
    Polynomial out, rest;
    for (const auto& [monomial, times] : a.terms())
        if (!monomial.empty())
            (times % by == 0 ? out : rest).add(monomial, times % by == 0 ? times / by : times);
    const std::int64_t constant = a.constant(), more = constant % by;
    const bool below = more < 0;
    out.add(Monomial{}, constant / by - (below ? 1 : 0));
    if (rest.terms().empty()) return out;
    rest.add(Monomial{}, below ? more + by : more);
    // Threads whose remainders differ may round to different numbers.
    if (rest.constant() != 0) return std::nullopt;
    out.add(
        Polynomial::of(atoms_.atom({.kind = Definition::Kind::quotient, .name = "", .parts = {rest, b}})));
    return out;
}

std::optional<Polynomial> InThread::choice(Definition of) {
    const Truth chosen = truth(of.condition);
    const std::optional<Polynomial> a = number(of.parts[0]), b = number(of.parts[1]);
    if (chosen == Truth::yes) return a;
    if (chosen == Truth::no) return b;
    if (!a || !b || a == b) return a == b ? a : std::nullopt;
    // Only what all threads choose alike is one number.
    bool alike = true;
    atoms_.for_each_number(of.condition,
                           [&](const Polynomial& part) { alike = alike && number(part) == part; });
    if (!alike) return std::nullopt;
    of.parts = {*a - *b, Polynomial()};
    of.least.reset();
    of.most.reset();
    of.below.reset();
    return *b + Polynomial::of(atoms_.atom(std::move(of)));
}

InThread::Truth InThread::compared(const Condition& of) {
    const std::optional<Polynomial> its = number(of.number);
    if (!its) return Truth::unknown;
    const bool positive = of.kind == Condition::Kind::positive;
    if (of.kind != Condition::Kind::open && its->is_constant())
        return (positive ? its->constant() >= 0 : its->constant() == 0) ? Truth::yes : Truth::no;
    return positive || its == of.number ? Truth::open : Truth::unknown;
}

InThread::Truth InThread::truth(Formula formula) {
    const Condition of = atoms_[formula];
    using enum Condition::Kind;
    switch (of.kind) {
        case yes: return Truth::yes;
        case positive:
        case zero:
        case open: return compared(of);
        case negated: {
            const Truth inner = truth(of.parts.front());
            return inner == Truth::yes ? Truth::no : inner == Truth::no ? Truth::yes : inner;
        }
        case all:
        case any: break;
    }
    const Truth decides = of.kind == all ? Truth::no : Truth::yes;
    Truth out = of.kind == all ? Truth::yes : Truth::no;
    for (const Formula part : of.parts) {
        const Truth one = truth(part);
        if (one == decides) return decides;
        if (one == Truth::unknown || (one == Truth::open && out != Truth::unknown)) out = one;
    }
    return out;
}

}  // namespace wgrun::check::symbolic
