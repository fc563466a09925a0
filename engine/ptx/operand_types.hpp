// Operands that no record takes, though records read the opcode: what is wrong with them?
#pragma once

#include <optional>
#include <string>

#include "ptx/read.hpp"

namespace wgrun::ptx {

/// Returns the first operand that no record which reads the opcode takes, and what is legal there, in words;
/// nothing: there is none, or one that assemblers may take. Names of registers, lists and addresses are
/// judged (PTX ISA 9.4).
std::optional<std::string> wrong_operand(const Module& module, Names& names, const Statement& statement,
                                         const std::string& opcode);

}  // namespace wgrun::ptx
