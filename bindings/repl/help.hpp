// help at the prompt: what the documentation says.
#pragma once

#include <lua.hpp>

namespace wgrun::repl {

/// Pushes what there is to say of `name` ("wg.tile", "tile:offset", "k:loop"), or of everything for an empty
/// one, in lines of at most `columns`. Raises an error that names its neighbours for an unknown name.
void push_help(lua_State* L, const char* name, int columns);

/// The same of the value at `index`: a name is a string; a function of wgrun, an object or wg stands for its
/// own. Raises for other values.
void push_help_of(lua_State* L, int index, int columns);

}  // namespace wgrun::repl
