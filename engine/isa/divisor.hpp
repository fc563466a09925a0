// Integer division, whose result is unspecified where the divisor is zero (PTX ISA 9.7.1.8).
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns the divisor of an integer division or remainder; null for other steps.
const Operand* divisor_of(const Step& step);

/// Returns whether the step is selp or slct, which may leave out what it reads.
bool chooses(const Step& step);

}  // namespace wgrun::isa
