// What the operands of instructions are for, by family and name: what a reference says besides kinds and
// types. The functions are thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "wgrun/isa.hpp"

#pragma GCC visibility push(default)

namespace wgrun::isa {

/// A row of the table. Of two that fit an instruction, the one with the longer family counts.
struct OperandMeaning {
    std::string_view families;  ///< names of instructions, or their beginnings up to a dot; empty: all others
    std::string_view operand;
    std::string_view text;
};
std::span<const OperandMeaning> operand_meanings();

/// What an operand is for, in a few words: "the peer's address, from mapa". Every operand has one.
std::string_view operand_meaning(const Instruction& op, const OperandRule& operand);

}  // namespace wgrun::isa

#pragma GCC visibility pop
