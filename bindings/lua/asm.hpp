// Inline PTX for the standard library, which gives k:asm its surface.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

/// Lua: inline_ptx(k, { text =, operands = { { name, access, register or buffer or type }, ... }, declared =,
/// reads =, writes =, synchronises =, simulated =, isa =, guard = }): the registers of the operands, in
/// order.
int inline_ptx_from_lua(lua_State* L);

/// Lua: simulated_only(k, on): from now on steps of `k` are, or are no longer, for the simulator alone.
int simulated_only_from_lua(lua_State* L);

}  // namespace wgrun::lua
