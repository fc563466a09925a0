// What the session decides where the script leaves it open, and the kernels that it keeps.
#pragma once

#include <lua.hpp>

#include "wgrun/session.hpp"

namespace wgrun::lua {

/// The back end for a kernel that asks for `asked`: the session's where the script leaves it open, never
/// automatic. Remarks once when an automatic choice falls on the simulator.
Backend resolve_backend(lua_State* L, Backend asked);

class Options;

/// The option `numerics`: "exact", "h200" or { block =, fraction =, result =, nearest =, inside = }; the
/// session's where it is absent.
isa::Numerics read_numerics(lua_State* L, const Options& options);

/// Keeps the kernel userdata at `index`, when the session traces.
void remember_kernel(lua_State* L, int index);

/// Pushes the list of the kernels kept, in the order they were made.
void push_kernels(lua_State* L);

}  // namespace wgrun::lua
