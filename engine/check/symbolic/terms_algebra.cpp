// The algebra of terms: what instructions compute, as polynomials and conditions.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "check/symbolic/terms.hpp"
#include "isa/machine.hpp"

namespace wgrun::check::symbolic {

using isa::Term;

std::int64_t Terms::most_of(isa::Type type) {
    const int width = isa::bits(type);
    return width >= 64 ? INT64_MAX : (std::int64_t{1} << width) - 1;
}

const Polynomial* Terms::integer(Term term) const {
    if (term == Term::unknown) return nullptr;
    const Content& content = terms_[static_cast<std::size_t>(term)];
    return content.number ? &*content.number : nullptr;
}

std::optional<Formula> Terms::truth(Term term) const {
    return term == Term::unknown ? std::nullopt : terms_[static_cast<std::size_t>(term)].truth;
}

Term Terms::give(Content content) {
    if (!content.number && !content.truth) return Term::unknown;
    terms_.push_back(std::move(content));
    return static_cast<Term>(terms_.size() - 1);
}

Term Terms::of(const Operand& operand) { return give(content(operand)); }

bool Terms::at_least(const Polynomial& number, std::int64_t least) {
    const auto bound = atoms_.least(number);
    if (bound && *bound >= least) return true;
    if (number.is_constant()) return false;
    return positive_(number - Polynomial(least), conditions_);
}

/// Whether it may lie outside of that range. Sizes do not, nor do sums and products of them with numbers that
/// leave them room (docs/verdicts.md).
bool Terms::wraps(const Polynomial& number, std::int64_t least, std::int64_t most) const {
    constexpr std::int64_t room = 256;
    const auto lower = atoms_.least(number), upper = atoms_.most(number);
    if ((lower && *lower < least) || (upper && *upper > most)) return true;
    if (lower && upper) return false;
    return most < INT32_MAX || std::ranges::any_of(number.terms(), [&](const auto& term) {
               const auto& [monomial, times] = term;
               std::int64_t scale = times;
               for (const Atom atom : monomial) {
                   const Definition& of = atoms_[atom];
                   const auto greatest = atoms_.most(Polynomial::of(atom));
                   const bool any_number =
                       of.kind == Definition::Kind::function || of.kind == Definition::Kind::unknown;
                   if (any_number && (!greatest || *greatest >= most / 2)) return true;
                   if (greatest && __builtin_mul_overflow(scale, *greatest, &scale)) return true;
               }
               return scale > most / room || scale < -(most / room);
           });
}

namespace {

/// The least and the greatest number of a type; unsigned ones of 64 bits may be differences.
std::pair<std::int64_t, std::int64_t> range(isa::Type type, std::int64_t most) {
    if (!isa::is_signed(type)) return {INT64_MIN, most};
    if (isa::bits(type) < 64) most /= 2;
    return {-most - 1, most};
}

}  // namespace

void Terms::note(const Polynomial& number, isa::Type type) {
    if (isa::is_float(type) || isa::bits(type) >= 64 || atoms_.most(number)) return;
    const auto [least, most] = range(type, most_of(type));
    if (!wraps(number, least, most)) narrow_.try_emplace(number, most);
}

Term Terms::number(Term a, isa::Type type) {
    const Polynomial* number = integer(a);
    if (number == nullptr || isa::is_float(type)) return Term::unknown;
    const Polynomial from = *number;
    const auto [least, most] = range(type, most_of(type));
    if (!wraps(from, least, most) && (isa::is_signed(type) || at_least(from, 0))) {
        note(from, type);
        return a;
    }
    // What the low bits are, exactly.
    if (isa::bits(type) == 64) return Term::unknown;
    if (!isa::is_signed(type)) return give(modulo(from, most + 1));
    return give(modulo(from + Polynomial(most + 1), 2 * (most + 1)) - Polynomial(most + 1));
}

Term Terms::number(const Operand& operand, isa::Type type) {
    const Term content = of(operand);
    if (operand.kind != Operand::Kind::reg) return number(content, type);
    // A register's number was judged where it was computed, by its type; that of a loop's counter in each
    // turn.
    const isa::Type its = program_.registers()[operand.reg.id].type;
    const Polynomial* value = integer(content);
    const bool counts = value != nullptr && std::ranges::any_of(value->atoms(), [&](Atom atom) {
                            return atoms_[atom].kind == Definition::Kind::place && births_.contains(atom);
                        });
    const bool judged =
        isa::bits(its) <= isa::bits(type) && (counts || !isa::is_signed(type) || isa::is_signed(its));
    if (!judged) return number(content, type);
    auto before = narrow_;
    const Term out = number(content, type);
    narrow_ = std::move(before);
    return out;
}

Content Terms::number_of(const Content& content, isa::Type type) try {
    terms_.clear();
    const Term out = number(give(content), type);
    return out == Term::unknown ? Content{} : terms_[static_cast<std::size_t>(out)];
} catch (const TooLarge&) {
    return {};
}

Term Terms::sum(Term a, Term b, std::int64_t times) {
    const Polynomial *x = integer(a), *y = integer(b);
    if (x == nullptr || y == nullptr) return Term::unknown;
    Polynomial out = *x;
    out.add(*y, times);
    return give(std::move(out));
}

Term Terms::product(Term a, Term b) {
    const Polynomial *x = integer(a), *y = integer(b);
    return x == nullptr || y == nullptr ? Term::unknown : give(*x * *y);
}

Term Terms::power_of_2(Term exponent) {
    const Polynomial* by = integer(exponent);
    if (by == nullptr || !by->is_constant() || by->constant() < 0 || by->constant() > 62)
        return Term::unknown;
    return give(Polynomial(std::int64_t{1} << by->constant()));
}

/// Rounded down. b is above 0.
Polynomial Terms::divided(const Polynomial& a, const Polynomial& b) {
    if (b == Polynomial(1)) return a;
    Polynomial whole, rest;
    if (b.is_constant()) {
        const std::int64_t by = b.constant();
        for (const auto& [monomial, times] : a.terms()) {
            // The quotient of a constant is rounded down, too.
            const std::int64_t part = times >= 0 ? times / by : -((-times + by - 1) / by);
            whole.add(monomial, monomial.empty() || times % by == 0 ? part : 0);
        }
        rest = a - whole * b;
    } else if (b.terms().size() == 1 && b.terms().begin()->second == 1 &&
               b.terms().begin()->first.size() == 1) {
        std::tie(whole, rest) = a.split(b.terms().begin()->first.front());
    } else {
        rest = a;
    }
    if (at_least(rest, 0) && at_least(b - rest, 1)) return whole;
    if (b.is_constant()) {
        // What both are multiples of is left out, but for the constant, which is rounded down.
        const std::int64_t by = b.constant(), common = std::gcd(rest.divisor(false), by);
        if (common > 1) {
            const std::int64_t left = rest.constant() / common - (rest.constant() % common < 0 ? 1 : 0);
            const Polynomial varying = rest - Polynomial(rest.constant());
            return whole + divided(varying.over(common) + Polynomial(left), by / common);
        }
        // A quotient that is divided again: x by both at once.
        const Polynomial varying = rest - Polynomial(rest.constant());
        if (varying.terms().size() == 1 && varying.terms().begin()->second == 1 &&
            varying.terms().begin()->first.size() == 1) {
            const Definition inner = atoms_[varying.terms().begin()->first.front()];
            std::int64_t both = 0;
            if (inner.kind == Definition::Kind::quotient && inner.parts[1].is_constant() &&
                !__builtin_mul_overflow(inner.parts[1].constant(), by, &both))
                return whole + divided(inner.parts[0] + Polynomial(rest.constant()) * inner.parts[1], both);
        }
    }
    Definition definition{.kind = Definition::Kind::quotient, .name = {}, .parts = {rest, b}};
    return whole + Polynomial::of(born(std::move(definition)));
}

Term Terms::quotient(Term a, Term b) {
    const Polynomial *x = integer(a), *y = integer(b);
    if (x == nullptr || y == nullptr || !at_least(*y, 1)) return Term::unknown;
    const Polynomial dividend = *x, divisor = *y;
    return give(divided(dividend, divisor));
}

/// The bits of a that are ones in the mask.
std::optional<Polynomial> Terms::masked(const Polynomial& a, std::int64_t mask) {
    Polynomial out = mask < 0 ? a : Polynomial();
    // The sum of its runs of ones; below 0 what its complement leaves out.
    auto left = static_cast<std::uint64_t>(mask < 0 ? ~mask : mask);
    while (left != 0) {
        const int low = std::countr_zero(left), high = low + std::countr_one(left >> low);
        if (high > 62) return std::nullopt;
        const Polynomial field = modulo(a, std::int64_t{1} << high) - modulo(a, std::int64_t{1} << low);
        out.add(field, mask < 0 ? -1 : 1);
        left &= ~((std::uint64_t{1} << high) - 1);
    }
    return out;
}

Term Terms::bitwise(unsigned table, Term a, Term b, isa::Type type) {
    if (type == isa::Type::pred) {
        const auto x = truth(a), y = truth(b);
        if (!x || !y) return Term::unknown;
        Formula out = atoms_.negated(Atoms::yes);
        if (table == isa::table_and) return give(atoms_.both(*x, *y));
        if (table == isa::table_or) return give(atoms_.either(*x, *y));
        for (unsigned entry = 0; entry < 4; ++entry)
            if ((table >> entry & 1U) != 0)
                out = atoms_.either(out, atoms_.both((entry & 2U) != 0 ? *x : atoms_.negated(*x),
                                                     (entry & 1U) != 0 ? *y : atoms_.negated(*y)));
        return give(out);
    }
    const Polynomial *x = integer(a), *y = integer(b);
    if (x == nullptr || y == nullptr) return Term::unknown;
    Polynomial p = *x, q = *y;
    if (p.is_constant()) std::swap(p, q);
    if (q.is_constant()) {
        auto both = masked(p, q.constant());
        if (!both) return Term::unknown;
        if (table == isa::table_and) return give(*std::move(both));
        both = p + q - *both * Polynomial(table == isa::table_xor ? 2 : 1);
        return give(*std::move(both));
    }
    // Numbers that have no bit in common.
    for (int turn = 0; turn < 2; ++turn, std::swap(p, q)) {
        const std::int64_t divisor = p.divisor();
        const int zeros = divisor == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(divisor));
        if (zeros == 0 || !at_least(q, 0) ||
            !at_least(Polynomial(std::int64_t{1} << std::min(zeros, 62)) - q, 1))
            continue;
        return table == isa::table_and ? constant(0) : give(p + q);
    }
    const auto most_p = atoms_.most(p), most_q = atoms_.most(q);
    if (!most_p || !most_q || !at_least(p, 0) || !at_least(q, 0)) return Term::unknown;
    if (q < p) std::swap(p, q);
    const auto larger = static_cast<std::uint64_t>(std::max(*most_p, *most_q));
    return give(Polynomial::of(born({.kind = Definition::Kind::function,
                                     .name = fmt::format("bits by {}", table),
                                     .parts = {p, q},
                                     .least = 0,
                                     .most = static_cast<std::int64_t>(std::bit_ceil(larger + 1) - 1)})));
}

Term Terms::compare(isa::Compared how, Term a, Term b) {
    using enum isa::Compared;
    const Polynomial *x = integer(a), *y = integer(b);
    if (x == nullptr || y == nullptr) return Term::unknown;
    const Polynomial greater = *x - *y, less = *y - *x;
    switch (how) {
        case eq: return give(atoms_.zero(greater));
        case ne: return give(atoms_.negated(atoms_.zero(greater)));
        case lt: return give(atoms_.positive(less - Polynomial(1)));
        case le: return give(atoms_.positive(less));
        case gt: return give(atoms_.positive(greater - Polynomial(1)));
        case ge: return give(atoms_.positive(greater));
    }
    return Term::unknown;
}

Term Terms::select(Term condition, Term a, Term b) {
    const auto chosen = truth(condition);
    if (!chosen) return Term::unknown;
    if (*chosen == Atoms::yes) return a;
    if (*chosen == atoms_.negated(Atoms::yes)) return b;
    const Condition& holds = atoms_[*chosen];
    if (holds.kind == Condition::Kind::positive && at_least(holds.number, 0)) return a;
    if (a == Term::unknown || b == Term::unknown) return Term::unknown;
    const auto x = truth(a), y = truth(b);
    if (x && y)
        return give(atoms_.either(atoms_.both(*chosen, *x), atoms_.both(atoms_.negated(*chosen), *y)));
    const Polynomial *p = integer(a), *q = integer(b);
    if (p == nullptr || q == nullptr) return Term::unknown;
    if (*p == *q) return a;
    Definition definition{
        .kind = Definition::Kind::choice, .name = {}, .parts = {*p, *q}, .condition = *chosen};
    return give(Polynomial::of(born(std::move(definition))));
}

// --- lanes ----------------------------------------------------------------------------------------------

/// What an atom is in another lane of the warp. All else that a warp executes together, its lanes have in
/// common.
std::optional<Polynomial> Terms::moved(Atom atom, int lane) {
    const Definition of = atoms_[atom];
    if (atoms_.uniform(atom)) return Polynomial::of(atom);
    using enum Definition::Kind;
    switch (of.kind) {
        case place:
            if (Polynomial::of(atom) == thread_)
                return divided(thread_, isa::lanes) * Polynomial(isa::lanes) + Polynomial(lane);
            // Lanes may be in different turns.
            return of.name.starts_with("ctaid") ? std::optional(Polynomial::of(atom)) : std::nullopt;
        case quotient: {
            const auto a = moved(of.parts[0], lane), b = moved(of.parts[1], lane);
            if (!a || !b || !at_least(*b, 1)) return std::nullopt;
            return divided(*a, *b);
        }
        case choice: {
            const auto a = moved(of.parts[0], lane), b = moved(of.parts[1], lane);
            const auto condition = moved(of.condition, lane);
            if (!a || !b || !condition) return std::nullopt;
            return Polynomial::of(
                born({.kind = choice, .name = {}, .parts = {*a, *b}, .condition = *condition}));
        }
        case function: {
            Definition other = of;
            for (Polynomial& part : other.parts) {
                const auto there = moved(part, lane);
                if (!there) return std::nullopt;
                part = *there;
            }
            return Polynomial::of(born(std::move(other)));
        }
        default: return std::nullopt;
    }
}

std::optional<Polynomial> Terms::moved(const Polynomial& number, int lane) {
    Polynomial out;
    for (const auto& [monomial, times] : number.terms()) {
        Polynomial product(times);
        for (const Atom atom : monomial) {
            const auto there = moved(atom, lane);
            if (!there) return std::nullopt;
            product = product * *there;
        }
        out.add(product);
    }
    return out;
}

std::optional<Formula> Terms::moved(Formula formula, int lane) {
    Condition out = atoms_[formula];
    if (out.kind == Condition::Kind::open) {
        if (!atoms_.uniform(formula)) return std::nullopt;
        return formula;
    }
    const auto number = moved(out.number, lane);
    if (!number) return std::nullopt;
    out.number = *number;
    for (Formula& part : out.parts) {
        const auto there = moved(part, lane);
        if (!there) return std::nullopt;
        part = *there;
    }
    return atoms_.formula(std::move(out));
}

Term Terms::in_lane(const Operand& operand, int lane) {
    const Content here = content(operand);
    if (!here.number) return Term::unknown;
    auto there = moved(*here.number, lane);
    return there ? give(std::move(*there)) : Term::unknown;
}

/// Of each warp one lane, the same in all executions (PTX ISA 9.7.13.14).
Term Terms::elected() {
    const Atom lane = born({.kind = Definition::Kind::function,
                            .name = "the elected lane",
                            .parts = {divided(thread_, isa::lanes)},
                            .least = 0,
                            .most = isa::lanes - 1});
    return give(atoms_.zero(modulo(thread_, isa::lanes) - Polynomial::of(lane)));
}

}  // namespace wgrun::check::symbolic
