// What the debugger shows of a cluster at a stop. Texts of one or more lines.
#pragma once

#include "debug/when.hpp"

namespace wgrun::debugging {

/// Where a warp (of the cluster) is, with that line of the script. `time`: as stops name it.
std::string place_of(sim::View view, int warp, Dim3 grid, std::uint64_t time);

/// The script around a line.
std::string listing(Where at);

/// All warps, `selected` with a mark.
std::string warps_of(sim::View view, int selected, Dim3 grid);

/// The mbarriers of the cluster, and who waits where.
std::string barriers_of(sim::View view, Dim3 grid);

}  // namespace wgrun::debugging
