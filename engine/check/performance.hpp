// What is legal, and slower than necessary.
#pragma once

#include <vector>

#include "wgrun/diagnostic.hpp"
#include "wgrun/program.hpp"

namespace wgrun::check {

/// Returns what is slower than necessary: WG-PERF-05, -06, -08 and -09, in script order. Only certain cases
/// are reported.
std::vector<Diagnostic> performance(const Program& program);

}  // namespace wgrun::check
