// The registers whose values are still needed at each instruction of machine code.
#pragma once

#include <vector>

#include "sass/graph.hpp"

namespace wgrun::sass {

/// How many registers R hold a value before each instruction that some path behind it uses. A product in
/// flight uses its registers until the wait that covers its group.
std::vector<int> live_registers(const Function& function, const Graph& graph);

/// The bytes of the stack that a function takes for itself: what it subtracts from R1.
int stack_bytes(const Function& function);

}  // namespace wgrun::sass
