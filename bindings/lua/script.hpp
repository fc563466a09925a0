// A script as a program: its module path, its arguments, and the meaning of its errors.
#pragma once

#include <lua.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::lua {

/// What messages call a text without a name, and standard input.
inline constexpr const char* unnamed_text = "stdin";

/// Puts the folder of `file` at the beginning of package.path.
void set_script_path(lua_State* L, const char* file);

/// Pushes a script's `arg`: `program` at -1, `file` at 0, then the arguments.
void push_script_arguments(lua_State* L, const std::string& program, const std::string& file,
                           const std::vector<std::string>& arguments);

/// Pushes the script as a function: the contents of `file` (null is standard input), or `text` under the name
/// of `file` (unnamed_text where that is null). Returns the status of lua_load, or LUA_ERRFILE with errno if
/// the file cannot be read; then the error is on the stack. Bytecode is refused.
int load_script(lua_State* L, const char* file, const std::string* text);

/// The same of a text, in a chunk called `name`.
int load_text(lua_State* L, std::string_view text, const char* name);

/// Adds to the message of a syntax error on top of the stack what the builder calls a method whose name is a
/// word of Lua's: k:if(...) is k:if_(...).
void explain_syntax(lua_State* L);

/// The functions by which scripts raise errors of their own.
struct Raisers {
    lua_CFunction error = nullptr, assert = nullptr;
};

/// Those of the base library; call it after the library was opened and before a script runs.
Raisers raisers(lua_State* L);

/// In a message handler: whether the error at index 1 was raised by a call of one of them, and is not
/// wgrun's.
bool raised_by_script(lua_State* L, const Raisers& raisers);

/// If kernels did not run, an error that the script raises itself may be a consequence: it becomes a warning.
void excuse_missing_results(Diagnostic& finding);

}  // namespace wgrun::lua
