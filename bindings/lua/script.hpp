// A script as a program: where it finds its modules, what it is called with, and what its errors prove.
#pragma once

#include <lua.hpp>

#include <string>
#include <vector>

#include "wgrun/diagnostic.hpp"

namespace wgrun::lua {

/// package.path begins with the folder of `file`.
void set_script_path(lua_State* L, const char* file);

/// The global `arg`: `program` at -1, `file` at 0, then the arguments.
void set_script_arguments(lua_State* L, const std::string& program, const std::string& file,
                          const std::vector<std::string>& arguments);

/// Pushes the script as a function: what `file` holds (null is standard input), or `text` under the name of
/// `file` ("(text)" where that is null). What lua_load returns, LUA_ERRFILE with errno where the file cannot
/// be read; then the error is on the stack. Bytecode is refused.
int load_script(lua_State* L, const char* file, const std::string* text);

/// The functions by which scripts raise errors of their own.
struct Raisers {
    lua_CFunction error = nullptr, assert = nullptr;
};

/// Those of the base library, when it has been opened and no script has run yet.
Raisers raisers(lua_State* L);

/// In a message handler: was the error at index 1 raised by a call of one of them, and is none of wgrun's?
bool raised_by_script(lua_State* L, const Raisers& raisers);

/// An error of the script's own, after kernels did not run, may follow from that: it becomes a warning.
void excuse_missing_results(Diagnostic& finding);

}  // namespace wgrun::lua
