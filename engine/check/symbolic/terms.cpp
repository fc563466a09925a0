#include "check/symbolic/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "isa/machine.hpp"
#include "isa/order.hpp"
#include "isa/registers.hpp"

namespace wgrun::check::symbolic {

Terms::Terms(const Program& program, Atoms& atoms, const Indexed& slots, Positive positive)
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
    const Dim3 given = program_.grid_sizes(), cluster = program_.cluster();
    if (const auto its = std::array{given.x, given.y, given.z}.at(static_cast<std::size_t>(dim)); its != 0)
        return std::int64_t{its};
    const std::int64_t size = std::array{cluster.x, cluster.y, cluster.z}.at(static_cast<std::size_t>(dim));
    const char letter = "xyz"[dim];
    const Atom atom = atoms_.atom({.kind = Definition::Kind::number,
                                   .name = fmt::format("{}.{}", size == 1 ? "nctaid" : "nclusterid", letter),
                                   .least = 1});
    return Polynomial::of(atom) * Polynomial(size);
}

Polynomial Terms::place_in_grid(int dim) {
    const std::string name = fmt::format("ctaid.{}", "xyz"[dim]);
    if (const Polynomial size = size_of_grid(dim); size.is_constant()) return place(name, size.constant());
    const Atom atom =
        atoms_.atom({.kind = Definition::Kind::place, .name = name, .least = 0, .below = size_of_grid(dim)});
    if (std::ranges::find(places_, atom) == places_.end()) places_.push_back(atom);
    return Polynomial::of(atom);
}

std::map<Atom, std::string> Terms::unread() {
    std::map<Atom, std::string> out;
    const Dim3 cluster = program_.cluster();
    for (int dim = 0; dim < 3; ++dim)
        if (!read_dims_.contains(dim) &&
            std::array{cluster.x, cluster.y, cluster.z}.at(static_cast<std::size_t>(dim)) == 1)
            for (const Atom place : place_in_grid(dim).atoms())
                out[place] = fmt::format("nctaid.{}", "xyz"[dim]);
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
        } else if (const isa::Term term = isa::meaning_of(step, *this); term != isa::Term::unknown) {
            first = terms_[static_cast<std::size_t>(term)];
        }
    } catch (const TooLarge&) {
        first = {};
    }
    for (auto& [reg, content] : results) {
        const bool is_truth = program_.registers()[reg.id].type == isa::Type::pred;
        if (is_truth ? !content.truth : !content.number) content = function(step, reg);
    }
    for (const auto& [reg, content] : results)
        if (content.number && slot(reg) != nullptr) note(*content.number, program_.registers()[reg.id].type);
    const Formula executed = guard(step);
    for (auto& [reg, content] : results) {
        if (slot(reg) == nullptr) continue;
        Content& to = *slot(reg);
        if (executed != Atoms::yes) {
            terms_.clear();
            to = this->content(reg);
            const isa::Term now = give(content), before = give(to);
            const isa::Term both = select(give(executed), now, before);
            content = both == isa::Term::unknown ? unknown(reg, "", numbers_[step_])
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
                          .least = 0};
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
            if (number) definition.least = of.taken_least();
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

}  // namespace wgrun::check::symbolic
