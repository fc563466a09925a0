#include "sass/program_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "isa/known_bits.hpp"

namespace wgrun::sass {
namespace {

constexpr int most_steps = 16;  // chains are followed so far

bool is_reg(const Operand& operand) { return operand.kind == Operand::Kind::reg; }
bool is_zero(const Operand& operand) { return operand.kind == Operand::Kind::imm && operand.imm == 0; }

/// What is 0 of the first thread.
bool is_place(const Step& step) {
    if (!step.form.has(isa::Field::sreg)) return false;
    constexpr std::string_view places[] = {"tid.x",   "tid.y",   "tid.z", "ctaid.x",
                                           "ctaid.y", "ctaid.z", "laneid"};
    return std::ranges::any_of(places, [&](std::string_view name) {
        return isa::parse_value(isa::Field::sreg, name) == step.form.get(isa::Field::sreg);
    });
}

}  // namespace

std::map<std::uint32_t, std::int64_t> constants(const Program& program, bool first_thread) {
    std::map<std::uint32_t, int> writes;
    for_each_step(program, [&](const Step& step) {
        for (std::size_t i = 0; i < step.operands.size() && i < step.op->operands.size(); ++i) {
            if (step.op->operands[i].access == isa::Access::in) continue;
            if (step.operands[i].kind == Operand::Kind::reg) ++writes[step.operands[i].reg.id];
            for (const Reg reg : step.operands[i].list) ++writes[reg.id];
        }
    });
    std::map<std::uint32_t, std::int64_t> out;
    const auto known = [&](Reg reg) {
        const auto found = out.find(reg.id);
        return found == out.end() ? isa::KnownBits{}
                                  : isa::KnownBits::of(static_cast<std::uint64_t>(found->second));
    };
    for_each_step(program, [&](const Step& step) {
        if (step.operands.empty() || step.operands[0].kind != Operand::Kind::reg || step.guard) return;
        if (writes[step.operands[0].reg.id] != 1) return;
        if (first_thread && is_place(step)) {
            out[step.operands[0].reg.id] = 0;
            return;
        }
        if (const auto value = isa::known_bits(step, known).value())
            out[step.operands[0].reg.id] = static_cast<std::int64_t>(*value);
    });
    return out;
}

ProgramValues::ProgramValues(const Program& program) : first_thread_(constants(program, true)) {
    for_each_step(program, [&](const Step& step) {
        const auto note = [&](Reg reg) {
            if (const auto [found, added] = steps_.try_emplace(reg.id, &step); !added)
                found->second = nullptr;
        };
        for (std::size_t i = 0; i < step.operands.size() && i < step.op->operands.size(); ++i) {
            if (step.op->operands[i].access == isa::Access::in) continue;
            if (is_reg(step.operands[i])) note(step.operands[i].reg);
            for (const Reg reg : step.operands[i].list) note(reg);
        }
    });
    for (const BasicBlock& block : program.blocks())
        if (block.end == BasicBlock::End::branch) add_compared(block.condition, compared_);
}

std::uint64_t ProgramValues::number_of(Reg reg, int depth) const {
    constexpr std::uint64_t of_text = std::uint64_t{1} << 40;
    const Step* step = step_of(reg);
    if (step == nullptr || depth > most_steps || step->op->meaning == nullptr || step->operands.empty() ||
        !is_reg(step->operands[0]) || step->operands[0].reg != reg)
        return reg.id;
    std::string text(step->op->name);
    for (int field = 0; field < isa::field_count; ++field)
        text += fmt::format(" {}", step->form.get(static_cast<isa::Field>(field), -1));
    for (std::size_t i = 1; i < step->operands.size(); ++i) {
        const Operand& from = step->operands[i];
        text += is_reg(from) ? fmt::format(",{}r{}", from.negated ? "!" : "", number_of(from.reg, depth + 1))
                             : fmt::format(",{}:{}:{}:{}", static_cast<int>(from.kind), from.imm, from.offset,
                                           from.index);
    }
    return computed_.try_emplace(text, of_text + computed_.size()).first->second;
}

void ProgramValues::add_compared(Reg predicate, std::set<std::uint64_t>& out, int depth) const {
    const Step* step = step_of(predicate);
    out.insert(predicate.id);
    if (step == nullptr || depth > most_steps) return;
    const std::string_view name = step->op->name;
    const bool joins = name == "and" || name == "or" || name == "not" || name == "xor";
    for (std::size_t i = 1; i < step->operands.size(); ++i) {
        if (!is_reg(step->operands[i])) continue;
        if (joins)
            add_compared(step->operands[i].reg, out, depth + 1);
        else
            out.insert(number_of(step->operands[i].reg));
    }
}

bool ProgramValues::decides_branches(Reg predicate) const {
    std::set<std::uint64_t> own;
    add_compared(predicate, own);
    return std::ranges::any_of(own, [&](std::uint64_t one) { return compared_.contains(one); });
}

const Step* ProgramValues::step_of(Reg reg) const {
    const auto found = steps_.find(reg.id);
    return found == steps_.end() || found->second == nullptr || found->second->guard ? nullptr
                                                                                     : found->second;
}

Base ProgramValues::base_of(const Operand& address) const {
    if (address.kind == Operand::Kind::shared)
        return {std::uint64_t{1} << 32 | static_cast<std::uint32_t>(address.index), true, address.offset};
    Reg reg = address.reg;
    std::int64_t offset = address.offset;
    for (int i = 0; i < most_steps; ++i) {
        const Step* step = step_of(reg);
        if (step == nullptr) return {reg.id, false, offset};
        const auto& from = step->operands;
        const std::string_view name = step->op->name;
        if (name == "mov" && from.size() == 2 && is_reg(from[1])) {
            reg = from[1].reg;
        } else if (name == "mov" && from.size() == 2 && from[1].kind == Operand::Kind::shared) {
            const Base base = base_of(from[1]);
            return {base.of, true, base.offset + offset};
        } else if (name == "add" && from.size() == 3 && is_reg(from[1]) &&
                   from[2].kind == Operand::Kind::imm) {
            reg = from[1].reg;
            offset += from[2].imm;
        } else {
            break;
        }
    }
    return {number_of(reg), true, offset};
}

bool ProgramValues::is_given(const Operand& operand) const {
    const Step* step = is_reg(operand) ? step_of(operand.reg) : nullptr;
    return step != nullptr && step->op->name.starts_with("ld");
}

bool ProgramValues::may_fail(Reg predicate, bool negated, int depth) const {
    const Step* step = step_of(predicate);
    if (step == nullptr || depth > most_steps) return true;
    const auto& from = step->operands;
    const std::string_view name = step->op->name;
    if ((name == "and" || name == "or") && from.size() == 3 && is_reg(from[1]) && is_reg(from[2]))
        return std::any_of(from.begin() + 1, from.end(), [&](const Operand& one) {
            return may_fail(one.reg, negated != one.negated, depth + 1);
        });
    if (name != "setp" || from.size() != 3) return true;
    if (const auto found = first_thread_.find(predicate.id);
        found != first_thread_.end() && (found->second != 0) != negated)
        return false;
    if (is_zero(from[2])) return true;
    if (is_reg(from[1]) && is_reg(from[2]) && number_of(from[1].reg) == number_of(from[2].reg)) return true;
    return !is_given(from[1]) && !is_given(from[2]);
}

}  // namespace wgrun::sass
