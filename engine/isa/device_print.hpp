// What threads print: the records of k:print, k:assert, k:trap and k:breakpoint, and those that replace them
// in a build for the GPU (program/printing.hpp).
//
// These records are not part of the instruction set, and all() does not list them: the builder makes the
// first group (Builder::say), and no script can call the others.
//
// The host passes a control block in device memory, and records in memory that the host can read too:
//
//     control   u32 count of records taken, u32 capacity, u64 address of the first record
//     record    u32 message (from 1; 0: nothing here yet), u32 CTA x, u32 CTA y | z << 16, u32 thread;
//               then 8 bytes for each value, which lies in the low bytes
#pragma once

#include "wgrun/isa.hpp"

namespace wgrun::isa::device_print {

// The records as the builder makes them. Their operands: message (immediate: an index into
// Program::messages()) and values (a list of registers of any types); in an assertion the condition comes
// first.
const Instruction& print();
const Instruction& assertion();
const Instruction& trap();
const Instruction& breakpoint();  ///< no operands, no text: a place where a debugger stops

/// Returns whether it is one of the three that have a message.
bool prints(const Instruction& op);
/// The operands of such a step; the condition is an assertion's.
const Operand& message_of(const Step& step);
const Operand& values_of(const Step& step);
const Operand& condition_of(const Step& step);

inline constexpr int control_bytes = 16;
inline constexpr int header_bytes = 16;
inline constexpr int value_bytes = 8;

/// slot (u64), there (pred): the next free record, if there is one. control: u64 register; bytes: size of a
/// record, an immediate.
const Instruction& slot();
/// Writes a value after the header. slot, there: as above; value: a register of the form's type; offset:
/// bytes, an immediate.
const Instruction& word();
/// Writes the header. message: an immediate, from 1.
const Instruction& publish();
/// Ends the kernel once the host can see what was written and other warps have had time to print too.
const Instruction& end();

}  // namespace wgrun::isa::device_print
