// A cluster at a stop, as the debugger prints it. Each function returns one or more lines.
#pragma once

#include "debug/when.hpp"

namespace wgrun::debugging {

/// Where a warp (of the cluster) is, with its line of the script. `time`: as stops print it.
std::string place_of(sim::View view, int warp, Dim3 grid, std::uint64_t time);

/// The lines of the script around a line.
std::string listing(Where at);

/// All warps; `selected` is marked.
std::string warps_of(sim::View view, int selected, Dim3 grid);

/// The mbarriers of the cluster, and the threads that wait for them.
std::string barriers_of(sim::View view, Dim3 grid);

}  // namespace wgrun::debugging
