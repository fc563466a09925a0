// The state that the loop and its commands share.
#pragma once

#include <lua.hpp>

#include <string>
#include <vector>

#include "bindings/repl/display.hpp"
#include "bindings/repl/repl.hpp"
#include "wgrun/diagnostic.hpp"

namespace wgrun::repl {

/// One session. It lives in a userdata, since it outlives calls of Lua.
struct Session {
    Console* console = nullptr;
    int locals = 0;     ///< stack index of the session's locals (chunk.hpp)
    bool over = false;  ///< the session is to end
    std::string line, chunk;
    int number = 1;    ///< of the chunk that is read; places in it are called "[1]:LINE"
    std::string kept;  ///< the chunks that compiled, for .save
    std::vector<Diagnostic> findings;
    std::string text;
};

/// The outcome of a chunk.
enum class Evaluated { good, failed, unfinished };

/// Compiles and runs `text` under the chunk name `name`, shows its results or its error, and sets `_`. Shows
/// nothing for an unfinished chunk, unless `whole`: then it is an error.
Evaluated evaluate(lua_State* L, Session& session, const std::string& text, const char* name, bool whole);

/// Compiles and runs `text` and pushes its first result. Raises what the chunk raises.
void push_result(lua_State* L, Session& session, const std::string& text);

/// Shows the error on top of the stack and removes it.
void show_error(lua_State* L, Session& session);

}  // namespace wgrun::repl
