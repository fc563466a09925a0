// Launches without each of their barriers, fences and waits, for check --perf.
#pragma once

#include <string>
#include <vector>

#include "bindings/cli/host.hpp"

namespace wgrun::cli {

/// What the launches without them have shown.
struct NeedlessOperations {
    std::vector<Diagnostic> remarks;     ///< WG-PERF-07
    std::vector<std::string> summaries;  ///< a line for each kernel that was launched
    std::string not_tried;               ///< why, where the script does not run through
    int code = Exit::ok;                 ///< interrupted, or good
};

/// Runs the script on the simulator, its kernels also with the edge sizes that it declares, and tries each
/// launch with `seeds` schedules.
NeedlessOperations try_without(const Request& request, int seeds);

}  // namespace wgrun::cli
