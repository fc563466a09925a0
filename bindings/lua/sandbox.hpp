// Scripts that are not trusted. docs/sandbox.md says what this holds, and what it does not.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

/// Gives a new state what restricted scripts have, in place of luaL_openlibs: the basic functions, coroutine,
/// table, string, math, utf8, of os clock, date, difftime and time, and a require that knows wgrun's modules
/// alone. No io, debug or package, no file and no bytecode: load takes text only. What wgrun itself does with
/// files or other libraries (wg.load, t:save, wg.cublas, the file of wg.tune, pictures as SVG ...) is
/// refused. Limits are another matter: set_limits.
void open_restricted(lua_State* L);

/// Raises an error when the state is restricted. `what` names what is refused: "wg.load".
void check_unrestricted(lua_State* L, const char* what);

}  // namespace wgrun::lua
