// What is known of an instruction that no record reads: what its opcode tells.
#pragma once

#include <string_view>

#include "isa/opaque.hpp"

namespace wgrun::ptx {

/// Returns whether the first operand of the instruction is no destination.
bool writes_nothing(std::string_view opcode);

/// Returns what the instruction may do. `address`: it has an operand in brackets.
isa::Reach reach_of(std::string_view opcode, bool address);

}  // namespace wgrun::ptx
