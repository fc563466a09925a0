// The registers that a step reads and writes.
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Calls visit(Reg) for each register of an operand, including that of an address.
template <class Visit>
void for_each_register(const Operand& operand, Visit visit) {
    if (operand.kind == Operand::Kind::list) {
        for (Reg reg : operand.list) visit(reg);
    } else if (operand.reg) {
        visit(operand.reg);
    }
}

/// Calls visit(Reg) for the operands that are read (including those that are also written), without the
/// guard.
template <class Visit>
void for_each_read(const Step& step, Visit visit) {
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (step.op->operands[i].access != Access::out) for_each_register(step.operands[i], visit);
}

/// Calls visit(Reg) for the operands that are written.
template <class Visit>
void for_each_written(const Step& step, Visit visit) {
    for (std::size_t i = 0; i < step.operands.size(); ++i)
        if (step.op->operands[i].access != Access::in) for_each_register(step.operands[i], visit);
}

/// Returns the register that an unguarded step copies into another one as it is (mov); none: it does
/// something else.
Reg copied(const Step& step);

}  // namespace wgrun::isa
