// Waits that a program implements by polling.
#pragma once

#include "wgrun/program.hpp"

namespace wgrun {

/// Returns whether the step tests an mbarrier, or polls memory with a strong access.
bool polls(const Step& step);

/// The blocks from the target of a backward edge to the last block that has such an edge.
struct TextLoop {
    BlockId first, last;
    bool construct;  ///< of k:loop, entered only at its top
};
/// Returns the loops, outer ones before inner ones.
std::vector<TextLoop> loops_of(const Program& program);

/// Returns whether the loop polls and does nothing else.
bool only_looks(const Program& program, const TextLoop& loop);

/// Returns whether the step has an address operand.
bool accesses_memory(const Step& step);

}  // namespace wgrun
