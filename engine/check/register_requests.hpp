// Requests for registers (setmaxnreg) by themselves.
#pragma once

#include "check/outline.hpp"

namespace wgrun::check {

/// Whether there are some, and no path has two of them. What the warps ask for in all then does not depend on
/// the order in which they ask, nor on what they wait for before.
bool requests_once(const Outline& outline);

}  // namespace wgrun::check
