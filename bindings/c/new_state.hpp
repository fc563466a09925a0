// A Lua state as the options of an engine ask for it.
#pragma once

#include <lua.hpp>

#include "bindings/c/engine.hpp"

namespace wgrun::c {

/// Null if there is no memory. The engine must outlive it.
lua_State* new_state(Engine& engine);

/// Opens the libraries, and tells the session what the engine wants. In a protected call.
void prepare(lua_State* L, Engine& engine);

/// Is the error value at `index` the one by which os.exit ends a script?
bool is_end_of_script(lua_State* L, int index);

}  // namespace wgrun::c
