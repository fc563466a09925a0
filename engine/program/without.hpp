// A program that waits for less than another.
#pragma once

#include <unordered_set>

#include "wgrun/program.hpp"

namespace wgrun {

/// Returns the program without these steps, which have no destinations, or are tests of an mbarrier
/// (isa::Awaited::passed): those find at once that the phase is complete.
Program without(const Program& program, const std::unordered_set<const Step*>& left_out);

}  // namespace wgrun
