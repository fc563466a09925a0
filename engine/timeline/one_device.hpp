// What timelines are of: a launch on one device.
#pragma once

#include <fmt/format.h>

#include "wgrun/diagnostic.hpp"
#include "wgrun/kernel.hpp"

namespace wgrun::timeline {

/// Throws ArgumentError for a launch on several devices.
inline void expect_one_device(const Program& program, const RunOptions& options) {
    if (!options.further_devices.empty())
        throw ArgumentError(
            fmt::format("kernel {}: a timeline is of one device, not of a launch on several", program.name()),
            "give it the `args` of one of them, with flags that are set");
}

}  // namespace wgrun::timeline
