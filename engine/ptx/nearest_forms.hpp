// Opcodes that no record reads: what in them is none of the instruction's, and which opcodes are near.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/opcode.hpp"

namespace wgrun::ptx {

/// Returns the first word of the opcode ("sync" of "bar.sync") that no record with the same first word has;
/// empty: there is no such record, or each word
/// has a place in one. Thread-safe, as are all of these.
std::string_view strange_word(std::string_view opcode);

struct Nearest {
    std::vector<std::string> opcodes{};
    std::size_t words = 0;  ///< how many have to be taken out and put in
};
/// Returns legal opcodes that differ from this one in the fewest words, three at most; none where one has the
/// same words in an order that assemblers may take as well.
Nearest nearest_opcodes(std::string_view opcode);

/// Calls found(form) for each way in which the record reads the opcode, with the words in any order that
/// assemblers take.
void match(const Template& text, std::string_view opcode, const FoundForm& found);
/// Returns whether there is one.
bool reads(const Template& text, std::string_view opcode);

/// Returns how few and how many operands an opcode may have; nothing: no record reads it.
std::optional<std::pair<std::size_t, std::size_t>> operand_counts(std::string_view opcode);

/// Returns whether it is an opcode that no assembler takes, and not only one that no record reads.
bool is_no_opcode(const std::string& opcode);

}  // namespace wgrun::ptx
