// The static checker: applies the laws of the catalogue to a program.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns every finding in `program`, each (rule, place) once, in script order. It does not stop at the
/// first.
std::vector<Diagnostic> check(const Program& program);

/// Returns the bulk copies to global memory that a path leads to from a write of a matrix by threads, with no
/// fence.proxy.async (WG-PROXY-01). For programs that declare no tiles: where buffers are known, check()
/// decides more.
std::vector<Diagnostic> outgoing(const Program& program);

/// Returns the accesses to global memory that come before griddepcontrol.wait, to tensors that the program
/// accesses after it too (WG-RACE-05). They are warnings: what the launches before touch is not known.
std::vector<Diagnostic> before_grids(const Program& program);

/// Returns what is slower than necessary: WG-PERF-05 and -06, in script order. Only certain cases are
/// reported.
std::vector<Diagnostic> performance(const Program& program);

/// Returns a lower bound of the 32-bit registers per thread that the values of `program` occupy where most
/// are live; ptxas seldom needs fewer (docs/ptxas.md).
int estimated_registers(const Program& program);

/// What a launch chooses.
struct LaunchSizes {
    Dim3 grid;                         ///< CTAs
    std::vector<std::int64_t> params;  ///< value of each parameter; ignored unless it is an integer
};

/// Returns what check() cannot know and a launch of these sizes breaks: barriers that never complete, phases
/// of mbarriers that never complete or complete too often, register pools that are too small.
std::vector<Diagnostic> check_launch(const Program& program, const LaunchSizes& sizes);

}  // namespace wgrun::check
