// Scripts that are not trusted. docs/sandbox.md says what this holds, and what it does not.
#pragma once

#include <lua.hpp>

#pragma GCC visibility push(default)

namespace wgrun::lua {

/// Gives a new state what restricted scripts have, in place of luaL_openlibs: the basic functions, coroutine,
/// table, string, math, utf8, of os clock, date, difftime and time, and a require that knows wgrun's modules
/// alone. No io, debug or package, no file and no bytecode: load takes text only. What wgrun itself does with
/// files or other libraries (wg.load, t:save, wg.cublas, the file of wg.tune, pictures as SVG ...) is
/// refused. Limits are another matter: set_limits (wgrun/limits.hpp).
///
/// The chunks that the host itself loads are its own business: luaL_loadbufferx with mode "t" refuses
/// bytecode. Raises a Lua error where there is no memory; call it in a protected call.
void open_restricted(lua_State* L);

}  // namespace wgrun::lua

#pragma GCC visibility pop
