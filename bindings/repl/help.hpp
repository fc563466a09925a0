// help at the prompt, from the documentation.
#pragma once

#include <lua.hpp>

namespace wgrun::repl {

/// Pushes the documentation of `name` ("wg.tile", "tile:offset", "k:loop"), or an overview for an empty name,
/// in lines of at most `columns`. Raises an error that names its neighbours for an unknown name.
void push_help(lua_State* L, const char* name, int columns);

/// The same for the value at `index`: a string is a name; a function or object of wgrun, or wg itself, stands
/// for its own documentation. Raises for other values.
void push_help_of(lua_State* L, int index, int columns);

}  // namespace wgrun::repl
