// Registers that are written on every path before they are read.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "check/outline.hpp"

namespace wgrun::check {

/// Returns the first step that reads a register which a path to it may not have written; a step that writes
/// it under a guard has, to reads under the same guard alone. What constants decide is followed: accumulators
/// that the first turn of a loop overwrites are not read there.
/// numbers: parameters that are at least 1, by name
std::optional<Where> maybe_unassigned(const Outline& outline, const std::set<std::string>& numbers);

}  // namespace wgrun::check
