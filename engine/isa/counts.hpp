// The reasons for what a form has: an operand's number of registers, and qualifiers that it does not take.
#pragma once

#include <string>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns ": why" for a message about how many registers the list `rule` takes in `form`, or nothing where
/// the form shows it (v4).
std::string why_count(const OperandRule& rule, const Form& form);

/// Returns what stands in the place of a qualifier that some forms of `op` take, and this one does not;
/// empty: nothing does.
std::string_view instead_of(const Instruction& op, Field field);

}  // namespace wgrun::isa
