// Opcodes of a text beside those that records print: which qualifiers do they have?
#pragma once

#include <functional>
#include <string_view>

#include "ptx/pattern.hpp"

namespace wgrun::ptx {

using FoundForm = std::function<void(const isa::Form&)>;

/// Returns whether a text may leave out the qualifier: it prints nothing then, or is the order or the space
/// of an access that has one without. What scripts may leave out besides, since the record has a default,
/// texts have to say.
bool leaves_out(const isa::Choice& choice);

/// Calls found(form) for each way in which the opcode fits that of the line, with the qualifiers of `form`,
/// which are known already, and its own.
void match_opcode(const Template& text, const Line& line, std::string_view opcode, const isa::Form& form,
                  const FoundForm& found);

/// The same with any value that a field can have at its place, legal or not.
void match_any_values(const Template& text, const Line& line, std::string_view opcode,
                      const FoundForm& found);

/// The same as match_opcode() of opcodes whose qualifiers stand in another order than the record's:
/// assemblers take any. Those that the record spells out, and types, stay in order.
void match_in_any_order(const Template& text, std::string_view opcode, const FoundForm& found);

}  // namespace wgrun::ptx
