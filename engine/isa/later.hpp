// What opcodes tell beside the records: which chips have them, and of which there are no other forms.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wgrun/form.hpp"

namespace wgrun::isa {

/// Returns the first chip, or the only one, that has such an opcode: one after sm_90, which no record reads,
/// or one that not all texts are for; nothing: all chips have it, or the record's rows tell.
std::optional<Arch> first_chip_of(std::string_view opcode);

/// Returns whether the records' rows have all forms that PTX has of such an opcode, so that another one is
/// illegal. Of others a text may have forms that no row has.
bool has_all_forms(std::string_view opcode);

/// Returns whether a number that a record does not take is none that such an opcode takes.
bool has_all_numbers(std::string_view opcode);

/// Returns the opcode without the words that PTX has in such opcodes and no row has, or with those in their
/// place that have the same operands.
std::string in_words_of_rows(std::string opcode);

}  // namespace wgrun::isa
