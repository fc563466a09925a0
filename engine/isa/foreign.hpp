// Instructions that compilers print and that no script can call: they need variables of the module, or the
// condition code, which no operand names.
#pragma once

#include <span>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// Returns the records. all() does not list them, and find() does not find them.
std::span<const Instruction> foreign_family();

/// What the simulator does not run, and the checker knows nevertheless: what such instructions access, order
/// and copy.
std::span<const Instruction> unsimulated_family();

/// Products of a warp in fragments whose layout the ISA leaves open.
std::span<const Instruction> wmma_family();

/// Volta's products of quarters of a warp.
std::span<const Instruction> quad_mma_family();

/// The conversions that compilers print and the record `cvt` does not have.
const Instruction& general_conversion();

/// What the operand is called that stands for the condition code (PTX ISA 9.7.2): a predicate, which the text
/// does not name.
inline constexpr std::string_view condition_code = "cc";

}  // namespace wgrun::isa
