// The Lua module: what `require "wgrun"` calls.
#pragma once

#include <lua.hpp>

#pragma GCC visibility push(default)

/// Pushes the module table. Sets no global. Register it with
/// luaL_requiref(L, "wgrun", luaopen_wgrun, 0), or in package.preload.
extern "C" int luaopen_wgrun(lua_State* L);

#pragma GCC visibility pop
