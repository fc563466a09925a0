// Chunks of a session: compiled with the locals of those before, and run.
#pragma once

#include <lua.hpp>

#include <string>
#include <string_view>

namespace wgrun::repl {

enum class Compiled {
    good,        ///< a function was pushed
    unfinished,  ///< more lines may complete it; an error message was pushed
    wrong,       ///< an error message was pushed
};

/// Pushes the store of a session's locals (locals.hpp): a table of their variables by name.
void push_locals(lua_State* L);

/// Compiles `text` as an expression if it is one, else as statements, under the chunk name `name` ("=stdin").
/// `locals` is the stack index of what push_locals pushed. Sets `passing` if the locals that the chunk
/// declares end with it, because Lua has no room for the calls that keep them. Pushes one value. `text` must
/// not live in a C++ frame, and must not change meanwhile.
Compiled compile(lua_State* L, int locals, const std::string& text, const char* name, bool& passing);

/// Whether `text` is the beginning of an incomplete chunk. Leaves the stack unchanged. Raises only for lack
/// of memory.
bool unfinished(lua_State* L, const std::string& text);

/// Pushes the value of the local called `name` (nil if there is none) and returns whether there is one.
bool push_local(lua_State* L, int locals, std::string_view name);

}  // namespace wgrun::repl
