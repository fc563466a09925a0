// Loops that no thread leaves, whatever the launch: their conditions are always the same.
#pragma once

#include <vector>

#include "check/outline.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::check {

/// Returns a finding for each loop that a thread can come to, and that has no way out which is ever taken.
std::vector<Diagnostic> endless_loops(const Outline& outline);

}  // namespace wgrun::check
