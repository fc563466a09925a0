// Scripts that are not trusted. docs/sandbox.md says what this guarantees, and what it does not.
#pragma once

#include <lua.hpp>

#pragma GCC visibility push(default)

namespace wgrun::lua {

/// Opens the libraries of restricted scripts in a new state, in place of luaL_openlibs: the basic functions,
/// coroutine, table, string, math, utf8, the functions clock, date, difftime and time of os, and a require
/// that knows only wgrun's modules. There is no io, debug or package, no access to files, and no bytecode:
/// load takes only text. Functions of wgrun that use files or other libraries (wg.load, t:save, wg.cublas,
/// the file of wg.tune, pictures as SVG ...) are refused. Limits are set separately, by set_limits
/// (wgrun/limits.hpp).
///
/// Chunks that the host itself loads are not restricted: luaL_loadbufferx with mode "t" refuses bytecode.
/// Raises a Lua error if there is not enough memory; call it in a protected call.
void open_restricted(lua_State* L);

}  // namespace wgrun::lua

#pragma GCC visibility pop
