// WG-TMA-01 of copies through tensor maps in memory where none may be.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns the copies through a tensor map in local or shared memory: the engine reads maps in the spaces of
/// parameters, constants and global memory alone (PTX ISA 5.5.8).
std::vector<Diagnostic> through_own_maps(const Program& program);

}  // namespace wgrun::check
