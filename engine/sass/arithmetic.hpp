// The integer arithmetic of machine code: what an instruction computes of known values.
#pragma once

#include "sass/instruction.hpp"
#include "sass/register_file.hpp"

namespace wgrun::sass {

/// Executes an instruction that computes integers or predicates. Returns false where it does something else:
/// then the file is unchanged.
bool compute(const Instruction& one, const Decoded& decoded, File& file);

}  // namespace wgrun::sass
