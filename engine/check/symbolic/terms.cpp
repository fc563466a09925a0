#include "check/symbolic/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "isa/machine.hpp"
#include "isa/order.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::symbolic {

namespace {

using isa::Term;

constexpr std::int64_t most_word = UINT32_MAX;

std::int64_t most_of(isa::Type type) {
    const int width = isa::bits(type);
    return width >= 64 ? INT64_MAX : (std::int64_t{1} << width) - 1;
}

bool is_signed_type(isa::Type type) {
    using enum isa::Type;
    return type == s8 || type == s16 || type == s32 || type == s64;
}

}  // namespace

Terms::Terms(const Program& program, Atoms& atoms, const Slots& slots, Positive positive)
    : program_(program), atoms_(atoms), slots_(slots), positive_(std::move(positive)) {
    const Dim3 block = program.block();
    thread_ = place("tid.x", block.x) + place("tid.y", block.y) * Polynomial(block.x) +
              place("tid.z", block.z) * Polynomial(std::int64_t{block.x} * block.y);
    for (int dim = 0; dim < 3; ++dim) place_in_grid(dim);
    for (const BasicBlock& of : program.blocks())
        for (const Step& step : of.steps)
            if (step.form.has(isa::Field::sreg)) read(isa::special_of(step.form));
}

/// Notes which place in the grid the kernel asks for, whatever for.
void Terms::read(isa::Special which) {
    using enum isa::Special;
    for (const isa::Special of_dims : {ctaid_x, clusterid_x, cluster_ctaid_x}) {
        const int dim = static_cast<int>(which) - static_cast<int>(of_dims);
        if (dim >= 0 && dim < 3) read_dims_.insert(dim);
    }
}

void Terms::at(Registers& registers, std::span<const Formula> conditions, std::vector<Atom> turns, int loop) {
    registers_ = &registers;
    conditions_ = conditions;
    turns_ = std::move(turns);
    loop_ = loop;
}

// --- atoms ----------------------------------------------------------------------------------------------

/// An atom that comes up in the current loop, unless it is there already.
Atom Terms::born(Definition definition) {
    const Atom atom = atoms_.atom(std::move(definition));
    births_.try_emplace(atom, loop_);
    return atom;
}

Polynomial Terms::place(const std::string& name, std::int64_t size) {
    if (size == 1) return 0;
    const Atom atom =
        atoms_.atom({.kind = Definition::Kind::place, .name = name, .least = 0, .most = size - 1});
    if (std::ranges::find(places_, atom) == places_.end()) places_.push_back(atom);
    return Polynomial::of(atom);
}

/// A whole number of clusters.
Polynomial Terms::size_of_grid(int dim) {
    const Dim3 cluster = program_.cluster();
    const std::int64_t size = std::array{cluster.x, cluster.y, cluster.z}.at(static_cast<std::size_t>(dim));
    const char letter = "xyz"[dim];
    const Atom atom = atoms_.atom({.kind = Definition::Kind::number,
                                   .name = fmt::format("{}.{}", size == 1 ? "nctaid" : "nclusterid", letter),
                                   .least = 1});
    return Polynomial::of(atom) * Polynomial(size);
}

Polynomial Terms::place_in_grid(int dim) {
    const Atom atom = atoms_.atom({.kind = Definition::Kind::place,
                                   .name = fmt::format("ctaid.{}", "xyz"[dim]),
                                   .least = 0,
                                   .below = size_of_grid(dim)});
    if (std::ranges::find(places_, atom) == places_.end()) places_.push_back(atom);
    return Polynomial::of(atom);
}

std::map<Atom, std::string> Terms::unread() {
    std::map<Atom, std::string> out;
    const Dim3 cluster = program_.cluster();
    for (int dim = 0; dim < 3; ++dim)
        if (!read_dims_.contains(dim) &&
            std::array{cluster.x, cluster.y, cluster.z}.at(static_cast<std::size_t>(dim)) == 1)
            out[*place_in_grid(dim).atoms().begin()] = fmt::format("nctaid.{}", "xyz"[dim]);
    return out;
}

Atom Terms::turn(int loop, Where where) {
    const Atom atom = atoms_.atom({.kind = Definition::Kind::place,
                                   .name = fmt::format("the turn of the loop of line {}", where.line),
                                   .key = loop,
                                   .least = 0});
    births_.try_emplace(atom, loop);
    return atom;
}

Content Terms::unknown(Reg reg, std::string name, int key) {
    const isa::Type type = program_.registers()[reg.id].type;
    if (isa::is_float(type) || isa::bits(type) > 64) return {};
    const bool is_truth = type == isa::Type::pred;
    Definition definition{.kind = Definition::Kind::unknown, .name = std::move(name), .key = key, .least = 0};
    definition.parts.push_back(Polynomial(reg.id));  // which of several registers
    if (isa::bits(type) < 64) definition.most = is_truth ? 1 : most_of(type);
    if (isa::bits(type) == 64) definition.least.reset();
    const Atom atom = born(std::move(definition));
    return is_truth ? Content{{}, atoms_.open(atom)} : Content{Polynomial::of(atom), {}};
}

bool Terms::stays(const Polynomial& number, const std::function<bool(int)>& in_loop) const {
    const auto atom_stays = [&](Atom atom) {
        if (atoms_.uniform(atom)) return true;
        const auto birth = births_.find(atom);
        if (birth != births_.end() && in_loop(birth->second)) return false;
        const Definition& of = atoms_[atom];
        bool out =
            std::ranges::all_of(of.parts, [&](const Polynomial& part) { return stays(part, in_loop); });
        if (of.kind == Definition::Kind::choice)
            atoms_.for_each_number(of.condition,
                                   [&](const Polynomial& part) { out = out && stays(part, in_loop); });
        return out;
    };
    return std::ranges::all_of(number.terms(),
                               [&](const auto& term) { return std::ranges::all_of(term.first, atom_stays); });
}

Polynomial Terms::special(isa::Special which) {
    using enum isa::Special;
    const Dim3 block = program_.block(), cluster = program_.cluster();
    const std::array blocks{block.x, block.y, block.z}, clusters{cluster.x, cluster.y, cluster.z};
    const auto dim_of = [&](isa::Special first) {
        const int dim = static_cast<int>(which) - static_cast<int>(first);
        return dim >= 0 && dim < 3 ? dim : -1;
    };
    const auto size = [](const auto& of, int dim) {
        return std::int64_t{of.at(static_cast<std::size_t>(dim))};
    };
    if (const int dim = dim_of(tid_x); dim >= 0)
        return place(fmt::format("tid.{}", "xyz"[dim]), size(blocks, dim));
    if (const int dim = dim_of(ntid_x); dim >= 0) return size(blocks, dim);
    if (const int dim = dim_of(ctaid_x); dim >= 0) return place_in_grid(dim);
    if (const int dim = dim_of(nctaid_x); dim >= 0) return size_of_grid(dim);
    if (const int dim = dim_of(clusterid_x); dim >= 0)
        return divided(place_in_grid(dim), size(clusters, dim));
    if (const int dim = dim_of(nclusterid_x); dim >= 0)
        return divided(size_of_grid(dim), size(clusters, dim));
    if (const int dim = dim_of(cluster_ctaid_x); dim >= 0)
        return modulo(place_in_grid(dim), size(clusters, dim));
    if (const int dim = dim_of(cluster_nctaid_x); dim >= 0) return size(clusters, dim);
    switch (which) {
        case laneid: return modulo(thread_, isa::lanes);
        case warpid: return divided(thread_, isa::lanes);
        case cluster_nctarank: return Polynomial(static_cast<std::int64_t>(cluster.volume()));
        case cluster_ctarank: {
            Polynomial rank;
            std::int64_t times = 1;
            for (int dim = 0; dim < 3; ++dim) {
                rank.add(modulo(place_in_grid(dim), size(clusters, dim)), times);
                times *= size(clusters, dim);
            }
            return rank;
        }
        default: break;
    }
    const bool same = which >= nsmid && which <= is_explicit_cluster;
    return Polynomial::of(born({.kind = same ? Definition::Kind::number : Definition::Kind::unknown,
                                .name = std::string(isa::special_names.at(static_cast<std::size_t>(which))),
                                .key = same ? 0 : numbers_[step_],
                                .least = 0}));
}

// --- steps ----------------------------------------------------------------------------------------------

void Terms::execute(const Step& step) {
    step_ = &step;
    numbers_.try_emplace(&step, static_cast<int>(numbers_.size()));
    terms_.clear();
    std::vector<std::pair<Reg, Content>> results;
    isa::for_each_written(step, [&](Reg reg) { results.emplace_back(reg, Content{}); });
    if (std::ranges::none_of(results, [&](const auto& one) { return slot(one.first) != nullptr; })) return;
    Content& first = results.front().second;
    try {
        if (step.form.has(isa::Field::sreg)) {
            first.number = special(isa::special_of(step.form));
        } else if (const Term term = isa::meaning_of(step, *this); term != Term::unknown) {
            first = terms_[static_cast<std::size_t>(term)];
        }
    } catch (const TooLarge&) {
        first = {};
    }
    for (auto& [reg, content] : results) {
        const bool is_truth = program_.registers()[reg.id].type == isa::Type::pred;
        if (is_truth ? !content.truth : !content.number) content = function(step, reg);
    }
    const Formula executed = guard(step);
    for (auto& [reg, content] : results) {
        if (slot(reg) == nullptr) continue;
        Content& to = *slot(reg);
        if (executed != Atoms::yes) {
            terms_.clear();
            to = this->content(reg);
            const Term now = give(content), before = give(to);
            const Term both = select(give(executed), now, before);
            content = both == Term::unknown ? unknown(reg, "", numbers_[step_])
                                            : terms_[static_cast<std::size_t>(both)];
        }
        to = std::move(content);
    }
}

/// The same number for the same sources, where the step does nothing else.
Content Terms::function(const Step& step, Reg result) {
    const isa::Type type = program_.registers()[result.id].type;
    const bool pure = isa::keeps_to_registers(step) && step.op->taken_by == isa::Participants::thread &&
                      !step.op->convergent && isa::bits(type) <= 64 && !isa::is_float(type);
    Definition definition{.kind = Definition::Kind::function,
                          .name = fmt::format("{} {}", isa::method_of(*step.op, step.form), step.op->name),
                          .key = static_cast<int>(result.id),
                          .least = 0};
    definition.key = 0;
    for (std::size_t i = 0; pure && i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::out) {
            if (step.operands[i].reg != result) ++definition.key;  // the results are different numbers
            continue;
        }
        const Operand& operand = step.operands[i];
        const Content content = operand.kind == Operand::Kind::list ? Content{} : this->content(operand);
        if (!content.number) return unknown(result, "", numbers_[step_]);
        definition.parts.push_back(*content.number);
    }
    if (!pure || definition.parts.empty()) return unknown(result, "", numbers_[step_]);
    definition.most = most_of(type);
    if (isa::bits(type) == 64) {
        definition.least.reset();
        definition.most.reset();
    }
    const Atom atom = born(std::move(definition));
    return type == isa::Type::pred ? Content{{}, atoms_.open(atom)} : Content{Polynomial::of(atom), {}};
}

Content* Terms::slot(Reg reg) {
    const int place = slots_.of[reg.id];
    return place < 0 ? nullptr : &(*registers_)[static_cast<std::size_t>(place)];
}

Content Terms::content(Reg reg) {
    const Content* at = slot(reg);
    if (at == nullptr || (!at->number && !at->truth))
        return unknown(reg, "a register that nothing has written", -1);
    return *at;
}

Content Terms::content(const Operand& operand) {
    using enum Operand::Kind;
    switch (operand.kind) {
        case imm:
            return {Polynomial(operand.imm), operand.imm != 0 ? Atoms::yes : atoms_.negated(Atoms::yes)};
        case param: {
            const Param& of = program_.params()[static_cast<std::size_t>(operand.index)];
            // A part of one is a number of its own.
            const bool whole = of.structure == 0 && operand.offset == 0;
            const bool number = whole && !of.pointee && !of.box && !isa::is_float(of.type);
            Definition definition{.kind = Definition::Kind::number,
                                  .name = whole ? of.name : fmt::format("{} + {}", of.name, operand.offset)};
            if (number) definition.least = 1;
            const Atom atom = atoms_.atom(std::move(definition));
            if (whole) params_[atom] = operand.index;
            return {Polynomial::of(atom), {}};
        }
        case address:
        case reg: {
            if (!operand.reg) return {Polynomial(operand.offset), {}};
            Content out = content(operand.reg);
            if (operand.negated && out.truth) out.truth = atoms_.negated(*out.truth);
            if (operand.kind == address && out.number) out.number->add(Polynomial(operand.offset));
            return out;
        }
        case shared: {
            const Atom atom = atoms_.atom({.kind = Definition::Kind::number,
                                           .name = "shared memory",
                                           .key = operand.index,
                                           .least = 0,
                                           .most = sm_90a.shared_base + sm_90a.sm_shared});
            return {Polynomial::of(atom) + Polynomial(operand.offset), {}};
        }
        default: return {};
    }
}

Formula Terms::guard(const Step& step) {
    if (!step.guard) return Atoms::yes;
    const Content content = this->content(step.guard);
    if (!content.truth) return Atoms::yes;
    return step.guard_negated ? atoms_.negated(*content.truth) : *content.truth;
}

// --- the algebra ----------------------------------------------------------------------------------------

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

Term Terms::number(Term a, isa::Type type) {
    const Polynomial* number = integer(a);
    if (number == nullptr || isa::is_float(type)) return Term::unknown;
    const bool is_signed = is_signed_type(type);
    const std::int64_t most = is_signed && isa::bits(type) < 64 ? most_of(type) / 2 : most_of(type);
    const std::int64_t least = is_signed ? -most - 1 : INT64_MIN;
    const Polynomial from = *number;
    if (!wraps(from, least, most) && (is_signed || at_least(from, 0))) return a;
    // What the low bits are, exactly.
    if (isa::bits(type) == 64) return Term::unknown;
    if (!is_signed) return give(modulo(from, most + 1));
    return give(modulo(from + Polynomial(most + 1), 2 * (most + 1)) - Polynomial(most + 1));
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
