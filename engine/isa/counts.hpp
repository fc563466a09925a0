// The reason for an operand's number of registers.
#pragma once

#include <string>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns ": why" for a message about how many registers the list `rule` takes in `form`, or nothing where
/// the form shows it (v4).
std::string why_count(const OperandRule& rule, const Form& form);

}  // namespace wgrun::isa
