// Operands of a text beside those that a record has.
#pragma once

#include <functional>
#include <vector>

#include "ptx/read.hpp"

namespace wgrun::ptx {

/// Binds the operands of a line, of which `first` is the first node, to those of out.op. `accept` decides at
/// the end; if it refuses, other ways to bind what is optional are tried. loose: as of Reader.
bool bind_operands(const Module& module, Names& names, bool loose, const Line& line, std::uint32_t first,
                   const std::function<bool()>& accept, Reading& out);

/// Completes what the text leaves out, and checks that the operands are of the kinds and types that the
/// record takes. Returns whether they are.
bool complete(const isa::Instruction& op, isa::Form& form, std::vector<isa::Operand>& operands, Names& names);

}  // namespace wgrun::ptx
