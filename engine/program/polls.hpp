// Waits that a program makes of looking again and again.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Does the step look at an mbarrier, or with a strong access at memory?
bool polls(const Step& step);

/// Blocks from one to which a block further down goes back, to the last that does.
struct TextLoop {
    BlockId first, last;
    bool construct;  ///< of k:loop: entered at its top alone
};
/// Outer loops before inner ones.
std::vector<TextLoop> loops_of(const Program& program);

/// Does the loop look at something, and do nothing but look?
bool only_looks(const Program& program, const TextLoop& loop);

/// Has it an operand that is an address?
bool accesses_memory(const Step& step);

}  // namespace wgrun
