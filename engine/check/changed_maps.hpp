// WG-PROXY-03 for tensor maps that the kernel itself changes.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns the copies through tensor maps in memory that paths lead to from a change of one, none of them
/// with a fence.proxy.tensormap that acquires, and such fences that nothing which releases comes before. Maps
/// that are parameters do not change.
std::vector<Diagnostic> through_changed_maps(const Program& program);

}  // namespace wgrun::check
