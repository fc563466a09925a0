#include "flow/origins.hpp"

#include <algorithm>

#include "isa/registers.hpp"
#include "isa/value.hpp"

namespace wgrun::flow {

using isa::Operand;
using isa::Step;

Origins::Origins(const Program& program) : registers_(program.registers().size()) {
    for (bool changed = true; changed;) {
        changed = false;
        for (const BasicBlock& block : program.blocks())
            for (const Step& step : block.steps) {
                if (reads_unwritten(step)) continue;
                const Origin made = result(step);
                for (std::size_t i = 0; i < step.operands.size(); ++i) {
                    if (step.op->operands[i].access == isa::Access::in) continue;
                    isa::for_each_register(step.operands[i], [&](isa::Reg reg) {
                        Origin& origin = registers_[reg.id];
                        if (origin == made || origin.buffer == none) return;
                        origin = origin.buffer == unwritten ? made : Origin{none, false};
                        changed = true;
                    });
                }
            }
    }
}

int Origins::of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::shared) return operand.index;
    if (operand.kind != Operand::Kind::reg) return none;
    return std::max(registers_[operand.reg.id].buffer, none);
}

Origins::Origin Origins::result(const Step& step) const {
    if (step.op->value == nullptr) return {none, false};
    const isa::Value value = step.op->value(step, [&](const Operand& operand) {
        isa::Value known;
        known.buffer = of(operand);
        known.is_descriptor = known.buffer >= 0 && operand.kind == Operand::Kind::reg &&
                              registers_[operand.reg.id].is_descriptor;
        return known;
    });
    return value.buffer >= 0 ? Origin{value.buffer, value.is_descriptor} : Origin{none, false};
}

bool Origins::reads_unwritten(const Step& step) const {
    bool found = false;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
        if (step.op->operands[i].access == isa::Access::out) continue;
        isa::for_each_register(step.operands[i],
                               [&](isa::Reg reg) { found |= registers_[reg.id].buffer == unwritten; });
    }
    return found;
}

}  // namespace wgrun::flow
