// Opcodes that no record reads: which are of later chips, and which are none at all.
#pragma once

#include <optional>
#include <string_view>

#include "wgrun/form.hpp"

namespace wgrun::isa {

/// Returns the first chip, or the only one, that has such an opcode; nothing: it is none of a later chip
/// alone.
std::optional<Arch> later_chip_of(std::string_view opcode);

/// Returns whether the records' rows have all forms that PTX has of such an opcode, so that another one is
/// illegal. Of others a text may have forms that no row has.
bool has_all_forms(std::string_view opcode);

}  // namespace wgrun::isa
