// Lua's headers for a Lua whose functions have C++ linkage (lua_names.cmake): Lua's own lua.hpp says extern
// "C".
#pragma once

#include "lua.h"
#include "lualib.h"
// the order of Lua's own header
#include "lauxlib.h"
