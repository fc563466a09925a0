// The program that the GPU runs of a kernel whose threads say something: k:print, k:assert, k:trap.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Returns whether any thread of the program may say anything.
inline bool prints(const Program& program) { return !program.messages().empty(); }

/// Returns a copy that writes messages to memory read by the host (isa/device_print.hpp). It has one more
/// parameter, the last one: the address of the control block.
Program printing(const Program& program);

/// Throws ArgumentError for a program with messages, for a context that cannot deliver them: `where` ("an
/// exported kernel").
void refuse_messages(const Program& program, std::string_view where);

}  // namespace wgrun
