// WG-PERF-05: bank conflicts of accesses to shared memory whose addresses depend on the thread alone.
#pragma once

#include "check/walk/scene.hpp"

namespace wgrun::check::walk {

/// Reports a conflict to the scene's remarks, only if every warp has it: a branch may exclude some of them.
void bank_conflicts(const Scene& scene, const isa::MemoryAccess& access);

}  // namespace wgrun::check::walk
