// Exports of kernels that Lua owns.
#pragma once

#include <lua.hpp>

#include <vector>

#include "wgrun/export.hpp"

namespace wgrun::lua {

/// Adds the kernel at `index`, with its script's kernel:launch_rule. `kernels` must not live in a
/// C++ frame, and refers to the kernel: keep that on the stack.
void add_export(lua_State* L, int index, std::vector<Export>& kernels);

}  // namespace wgrun::lua
