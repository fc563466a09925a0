// Completes a step: infers and resolves qualifiers, checks operands, makes destinations.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Returns the step that `op` means with these qualifiers and operands. Operands of Kind::none become fresh
/// registers (destinations) or their fallback. Throws ArgumentError: WG-FORM-01 for qualifiers, WG-FORM-02
/// for operands.
Step complete_step(Builder& builder, const isa::Instruction& op, isa::Form asked,
                   std::vector<Operand> operands);

}  // namespace wgrun
