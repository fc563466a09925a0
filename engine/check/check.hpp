// The static checker: applies the catalogue's laws to a program.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Every finding in `program`, each (rule, place) once, in the order of the script. Never stops at the first.
std::vector<Diagnostic> check(const Program& program);

/// What is slower than it need be: WG-PERF-05 and -06, in the order of the script. Only what is certain.
std::vector<Diagnostic> performance(const Program& program);

/// The registers of a thread that the values of `program` fill at least, where most of them are alive: what
/// ptxas needs is seldom less (docs/ptxas.md).
int estimated_registers(const Program& program);

/// What a launch chooses.
struct LaunchSizes {
    Dim3 grid;                         ///< CTAs
    std::vector<std::int64_t> params;  ///< the value of each parameter; of others than integers anything
};

/// What check() cannot know and a launch of these sizes breaks: barriers that never open, phases of mbarriers
/// that never complete or come too often, register pools that are too small.
std::vector<Diagnostic> check_launch(const Program& program, const LaunchSizes& sizes);

}  // namespace wgrun::check
