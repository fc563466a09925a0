// Records that stand for instructions of a foreign text that wgrun does not know.
#pragma once

#include <string_view>

#include "wgrun/isa.hpp"

namespace wgrun::isa {

/// What an unknown instruction may do besides computing its destinations.
enum class Reach : std::uint8_t {
    registers,  ///< nothing
    memory,     ///< access memory through the generic proxy
    anything    ///< also order it, copy it, and synchronise threads
};

/// What the opcode of an unknown instruction tells ("tex.2d.v4.f32.s32").
struct OpcodeFacts {
    Reach reach = Reach::registers;
    bool writes = true;  ///< its first operand is a destination, unless that is an address
};

/// address: it has an operand in brackets.
OpcodeFacts facts_of(std::string_view opcode, bool address);

/// Returns the record for unknown instructions of that reach. Its operands are two lists of any registers:
/// those that it writes, and those that it reads. What it may do counts as done where that can hide a fault,
/// so that nothing is reported that an unknown instruction may have prevented. It cannot be run.
const Instruction& opaque(Reach reach);

/// Returns whether the record is one of those.
bool is_opaque(const Instruction& op);

/// Returns whether it is, and may write to memory.
bool may_store(const Instruction& op);

}  // namespace wgrun::isa
