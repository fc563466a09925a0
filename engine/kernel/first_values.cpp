#include "kernel/first_values.hpp"

#include "check/exact.hpp"

namespace wgrun {
namespace {

check::Known number(std::int64_t value) {
    check::Known out;
    out.exact = check::Exact(value);
    return out;
}

struct Computed {
    std::int64_t value = 0;            ///< in the first thread
    bool all = false, points = false;  ///< it is that of all threads; shared memory takes part in it
};

std::optional<Computed> computed(const Program& program, const Step& step,
                                 const std::function<const check::Known&(Reg)>& known) {
    int budget = program.threads();
    const auto folded = check::fold(program, step, known, budget);
    if (!folded) return {};
    const std::int64_t base =
        folded->origin >= 0 ? program.shared()[static_cast<std::size_t>(folded->origin)].offset : 0;
    return Computed{folded->value.of(0) + base, folded->value.uniform().has_value(), folded->origin >= 0};
}

}  // namespace

FirstValues::FirstValues(const Program& program)
    : program_(program), known_(program.registers().size(), number(0)), written_(known_.size()) {
    for_each_step(program, [&](const Step& step) {
        for (std::size_t i = 0; i < step.operands.size(); ++i)
            if (step.op->operands[i].access != isa::Access::in)
                isa::for_each_register(step.operands[i],
                                       [&](Reg reg) { written_[reg.id].steps.push_back(&step); });
    });
    for_each_step(program, [&](const Step& step) { follow(step); });
}

void FirstValues::follow(const Step& step) {
    bool fixed = !step.guard, points = false;
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (step.op->operands[i].access != isa::Access::out)
            isa::for_each_register(step.operands[i], [&](Reg reg) {
                fixed = fixed && this->fixed(reg);
                points = points || this->points(reg);
            });
    auto value = computed(program_, step, [&](Reg reg) -> const check::Known& { return known_[reg.id]; });
    // An address that lanes exchange is that of one of them, and one in another CTA is the same place there.
    if (!value && step.op->effects == nullptr)
        for (std::size_t i = step.operands.size(); i-- > 0;)
            if (step.op->operands[i].access == isa::Access::in && step.operands[i].reg &&
                this->points(step.operands[i].reg))
                value = Computed{of(step.operands[i].reg), true, true};
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::in) continue;
        isa::for_each_register(step.operands[i], [&](Reg reg) {
            Written& written = written_[reg.id];
            if (written.steps.front() != &step || !value) return;
            known_[reg.id] = number(value->value);
            written.fixed = fixed && value->all;
            written.points = points || value->points;
        });
    }
}

std::optional<std::int64_t> FirstValues::of(const Operand& operand) const {
    switch (operand.kind) {
        case Operand::Kind::reg: return of(operand.reg);
        case Operand::Kind::imm: return operand.imm;
        case Operand::Kind::address:
            if (operand.reg) return of(operand.reg) + operand.offset;
            [[fallthrough]];
        case Operand::Kind::shared:
            if (operand.index < 0) return {};
            return program_.shared()[static_cast<std::size_t>(operand.index)].offset + operand.offset;
        default: return {};
    }
}

std::optional<std::int64_t> FirstValues::result(const Step& step, Reg reg, std::int64_t value) const {
    const check::Known given = number(value);
    const auto out = computed(program_, step, [&](Reg source) -> const check::Known& {
        return source == reg ? given : known_[source.id];
    });
    if (!out) return {};
    return out->value;
}

}  // namespace wgrun
