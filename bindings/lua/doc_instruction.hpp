// The documentation of instructions, made from their records (wgrun/isa.hpp).
#pragma once

#include <string>
#include <vector>

#include "bindings/lua/docs.hpp"
#include "wgrun/isa.hpp"

namespace wgrun::lua {

/// "k:wgmma_fence"
std::string instruction_name(const isa::Instruction& op);

/// A row as `wgrun isa` prints it: "space={global shared} type={b8..f64}  PTX 7.8".
std::string form_text(const isa::Row& row);

/// The form that the entry's example has.
isa::Form sample_form_of(const isa::Instruction& op);

/// One for each instruction that scripts can call. Made once a process.
const std::vector<Entry>& instruction_entries();

}  // namespace wgrun::lua
