// Why an operand has as many registers as it has.
#pragma once

#include <string>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// For a message that says how many registers the list `rule` takes in `form`: ": why", or nothing where the
/// form says it plainly (v4).
std::string why_count(const OperandRule& rule, const Form& form);

}  // namespace wgrun::isa
