// Ways through a program that end the kernel with an error: where a thread takes one, nothing else matters.
#pragma once

#include <vector>

#include "flow/graph.hpp"

namespace wgrun::flow {

/// Does the step end the kernel?
bool traps(const isa::Step& step);

/// Returns, by block, whether every way from there traps.
std::vector<bool> trapping(const Graph& graph);

}  // namespace wgrun::flow
