#include "check/dataflow/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/divisor.hpp"
#include "isa/registers.hpp"
#include "isa/wgmma.hpp"
#include "program/quotients.hpp"
#include "rules/wgmma_words.hpp"

namespace wgrun::check::dataflow {

Values::Values(Analysis& analysis)
    : analysis_(analysis),
      value_of_([this](const Operand& operand) { return value_of(operand); }),
      known_([this](Reg reg) -> const Known& { return analysis_.state.values[reg.id]; }),
      latest_(analysis.plan.outline.steps()) {
    for (Before& before : before_) {
        before.sources.resize(analysis.plan.used_count());
        before.results.resize(latest_.size());
    }
}

isa::Value Values::value_of(const Operand& operand) const {
    isa::Value value;
    value.uniform = isa::Uniform::grid;
    const auto in_buffer = [&](int buffer) {
        value.buffer = buffer;
        value.offset = operand.offset;
    };
    switch (operand.kind) {
        case Operand::Kind::reg:
            value = analysis_.state.values[operand.reg.id].value;
            if (operand.negated) {
                value.thread_shift = -1;
                if (value.constant) value.constant = *value.constant ^ 1;
            }
            break;
        case Operand::Kind::list:
            for (Reg reg : operand.list)
                value.uniform = std::min(value.uniform, analysis_.state.values[reg.id].value.uniform);
            break;
        case Operand::Kind::address:
            if (operand.reg) {
                value = analysis_.state.values[operand.reg.id].value;
                if (value.offset) value.offset = *value.offset + operand.offset;
                if (value.constant) value.constant = *value.constant + operand.offset;
            } else if (operand.index >= 0) {
                in_buffer(operand.index);
            } else {
                value.constant = operand.offset;
            }
            break;
        case Operand::Kind::shared: in_buffer(operand.index); break;
        case Operand::Kind::imm: value.constant = operand.imm; break;
        case Operand::Kind::param:
        case Operand::Kind::number:
        case Operand::Kind::none: break;
    }
    return value;
}

bool Values::is_zero(const Operand& operand) const {
    if (operand.kind == Operand::Kind::imm) return operand.imm == 0;
    return operand.kind == Operand::Kind::reg && of(operand.reg)->constant() == 0;
}

/// Returns what is known of the destination of `step`.
Known Values::result(const Step& step) {
    Known out;
    out.written = true;
    out.writer = &step;
    const StepUses& uses = analysis_.uses();
    const bool has_register = uses.sources > 0;
    out.inputs = uses.params;
    isa::Uniform least = isa::Uniform::grid;
    bool exact = uses.params == 0;
    for (const Reg reg : analysis_.plan.sources(uses)) {
        const Known& source = *of(reg);
        out.inputs |= source.inputs;
        least = std::min(least, source.value.uniform);
        exact &= source.exact.known();
    }
    if (step.op->value) {
        out.value = step.op->value(step, value_of_);
        // (tid.x >> s) + c says which warp it is in CTAs of one dimension alone.
        if (analysis_.program.block().x != static_cast<std::uint32_t>(analysis_.program.threads()) &&
            std::exchange(out.value.thread_shift, -1) >= 0)
            out.value.constant.reset();
    } else if (has_register)
        out.value.uniform = least;
    if (analysis_.loads) out.inputs |= roots::memory;

    if (const Operand* divisor = isa::divisor_of(step); divisor != nullptr && is_zero(*divisor))
        if (std::optional<rules::RuleMessage> wrong = division_by_zero(analysis_.program, step, "the kernel"))
            analysis_.findings.add(rules::finding(std::move(*wrong), step.where));
    if (auto folded = exact ? fold(analysis_.program, step, known_, fold_budget_) : std::nullopt) {
        out.exact = std::move(folded->value);
        out.origin = folded->origin;
        if (!out.exact.uniform()) {
            out.value.uniform = out.exact.spread();
            out.inputs = roots::thread;
        }
    }
    if (const auto constant = out.constant()) {
        out.value.constant = constant;
        out.value.thread_shift = -1;
        out.value.uniform = isa::Uniform::grid;
        out.inputs = 0;
    } else if (!out.exact.known() && !has_register && out.inputs == 0) {
        out.inputs = out.value.uniform < isa::Uniform::cta ? roots::thread : roots::cta;
    }
    return out;
}

void Values::read(const Step& step) {
    const StepUses& uses = analysis_.uses();
    const std::span<const Reg> sources = analysis_.plan.sources(uses);
    const auto same = [&](const Before& before) {
        const Known* const* was = &before.sources[uses.first_source];
        return std::ranges::all_of(sources, [&](Reg reg) { return of(reg) == *was++; });
    };
    std::uint8_t& latest = latest_[analysis_.number];
    if (same(before_[latest])) return;
    latest ^= 1;
    Before& before = before_[latest];
    if (same(before)) return;
    before.results[analysis_.number] = nullptr;
    const Known** now = &before.sources[uses.first_source];
    for (const Reg reg : sources) {
        read(reg, step.where);
        *now++ = of(reg);
    }
}

void Values::unwritten(Reg reg, Where where) {
    analysis_.findings.add(
        rules::WG_REG_01, where, "a register is read that nothing has written on any path to here",
        rules::write_before(where, analysis_.step != nullptr && isa::is_accumulator(*analysis_.step, reg)),
        {{analysis_.program.registers()[reg.id].where, "the register is made here"}});
    analysis_.state.values.change(reg.id, [](Known& known) { known.written = true; });
}

const Known& Values::condition(Reg reg, bool negated, Where where) {
    read(reg, where);
    const Known& known = analysis_.state.values[reg.id];
    if (!negated || !known.exact.known()) return known;
    Known opposite = known;
    opposite.exact = known.exact.map([](std::int64_t value) { return value ^ 1; });
    return *analysis_.known.the(opposite);
}

void Values::write(const Step& step) {
    const StepUses& uses = analysis_.uses();
    if (uses.results == 0) return;
    const Known*& known = before_[latest_[analysis_.number]].results[analysis_.number];
    if (known == nullptr) {
        if (uses.later) {
            Known later;
            later.written = true;
            later.writer = &step;
            later.inputs = roots::memory;
            known = analysis_.known.the(later);
        } else {
            known = analysis_.known.the(result(step));
        }
    }
    for (const Reg reg : analysis_.plan.results(uses)) analysis_.state.values.set(reg.id, known);
}

}  // namespace wgrun::check::dataflow
