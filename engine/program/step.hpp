// Completes a step: infers and resolves qualifiers, checks operands, makes destinations.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Returns the step that `op` means with these qualifiers and operands. Operands of Kind::none become fresh
/// registers (destinations) or their fallback. Throws ArgumentError: WG-FORM-01 for qualifiers, WG-FORM-02
/// for operands.
Step complete_step(Builder& builder, const isa::Instruction& op, isa::Form asked,
                   std::vector<Operand> operands);

/// Throws ArgumentError WG-FORM-02 for a list of another length than `form` has, and for an immediate that is
/// out of range.
void check_extent(const isa::Instruction& op, const isa::OperandRule& rule, const isa::Form& form,
                  const Operand& operand);

}  // namespace wgrun
