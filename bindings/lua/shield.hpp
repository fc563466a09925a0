// A shield for functions of the standard library against errors inside them.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

/// Lua: shielded(f, "k:element"): a function that calls f and turns Lua's own errors inside the library, as
/// after an argument of an unexpected kind, into errors of the call. It is a C function, so that `return
/// k:element(p, i)` keeps the frame, and with it the line, of the script's function.
int shielded_from_lua(lua_State* L);

}  // namespace wgrun::lua
