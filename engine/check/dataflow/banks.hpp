// WG-PERF-05: bank conflicts of accesses to shared memory whose addresses depend on the thread alone.
#pragma once

#include "check/dataflow/analysis.hpp"

namespace wgrun::check::dataflow {

/// Reports a conflict to the scene's remarks, only if every warp has it: a branch may exclude some of them.
void bank_conflicts(const Analysis& analysis, const isa::MemoryAccess& access);

}  // namespace wgrun::check::dataflow
