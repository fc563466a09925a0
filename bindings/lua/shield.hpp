// A net behind the functions of the standard library.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

/// Lua: shielded(f, "k:element"): f behind a net. Where an argument is so wrong that Lua itself complains,
/// deep in the library, that becomes an error of the call. A function of C, so that `return k:element(p, i)`
/// keeps the frame, and with it the line, of the script's function.
int shielded_from_lua(lua_State* L);

}  // namespace wgrun::lua
