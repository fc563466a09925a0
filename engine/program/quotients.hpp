// What the abstract execution of values and the simulator say of a division by zero: WG-REG-05.
#pragma once

#include <optional>
#include <string_view>

#include "rules/rule_message.hpp"
#include "wgrun/program.hpp"

namespace wgrun {

/// Says that the step, an integer division or remainder, divides by zero; nothing where selp alone reads the
/// result: kernels divide first and choose then. who: thread 5.
std::optional<rules::RuleMessage> division_by_zero(const Program& program, const Step& step,
                                                   std::string_view who);

}  // namespace wgrun
