// What the GPU runs of a kernel in which threads say something: k:print, k:assert, k:trap.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Does any thread of the program say anything?
inline bool speaks(const Program& program) { return !program.messages().empty(); }

/// A copy in which messages are written to memory that the host reads (isa/say.hpp). It has a parameter more,
/// the last one: the address of the control block.
Program spoken(const Program& program);

/// Throws ArgumentError for a program that speaks, where nobody would hear it: `where` ("an exported
/// kernel").
void refuse_messages(const Program& program, std::string_view where);

}  // namespace wgrun
