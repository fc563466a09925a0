// WG-PROXY-01 where no tile is declared.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns the bulk copies to global memory that a path leads to from a write of a matrix by threads, with no
/// fence.proxy.async (WG-PROXY-01). For programs that declare no tiles: where buffers are known, check()
/// decides more.
std::vector<Diagnostic> outgoing(const Program& program);

}  // namespace wgrun::check
