// Completing a step: qualifiers inferred and resolved, operands checked, destinations made.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// The step that `op` with these qualifiers and operands means. Operands of Kind::none become fresh registers
/// (destinations) or their fallback. Throws ArgumentError: WG-FORM-01 for qualifiers, WG-FORM-02 for
/// operands.
Step complete_step(Builder& builder, const isa::Instruction& op, isa::Form asked,
                   std::vector<Operand> operands);

}  // namespace wgrun
