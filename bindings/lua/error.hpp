// Error objects and findings as Lua sees them.
//
// An error object is a table with the metatable "wgrun.error": message, code, and where they are known rule,
// file, line, fix, section; `findings` lists all findings when it was the checker that refused. tostring
// gives "file:line: message [RULE]".
#pragma once

#include <lua.hpp>

#include "wgrun/diagnostic.hpp"

namespace wgrun::lua {

inline constexpr const char* error_class = "wgrun.error";

/// Chunks of the compiled-in standard library are named "=[wgrun]/NAME"; no error points into them.
inline constexpr const char* stdlib_prefix = "=[wgrun]/";

/// The line of the user's script that is running: the first frame that is neither C nor standard library.
/// Cheap (no allocation after the first call from a file); empty when there is none.
Where caller(lua_State* L) noexcept;

/// Pushes the table {rule, severity, file, line, message, fix, section, notes = {{file, line, message}}};
/// what is empty is absent. `finding` must not live in a C++ frame (guard.hpp, rule 1).
void push_finding(lua_State* L, const Diagnostic& finding);

/// Pushes the list of such tables.
void push_findings(lua_State* L, const std::vector<Diagnostic>& findings);

/// Reads the error object or finding at `index` into `finding`, which must not live in a C++ frame.
/// Any other value gives a finding with its text as message. May run a __tostring metamethod of the script.
void read_finding(lua_State* L, int index, Diagnostic& finding);

/// Reads all findings of the value that pcall caught: its `findings`, or itself.
void read_findings(lua_State* L, int index, std::vector<Diagnostic>& findings);

/// Notes the name of a chunk that is loaded, "@FILE" or "=NAME": messages of Lua's cut long names, and
/// findings that are read from them have the whole name.
void remember_name(lua_State* L, const char* chunk);

/// True for a table with the metatable of error objects.
bool is_error(lua_State* L, int index);

/// The code ("EINVAL", "ENODEV", ...) of the error object at `index`; empty for other values. A string
/// literal or valid while the object holds it.
std::string_view error_code(lua_State* L, int index);

/// Makes the metatable; part of luaopen_wgrun and of install_interrupt.
void open_error(lua_State* L);

/// Lua: fail(message [, fix [, rule [, section]]]) raises an error object at the calling script's line. For
/// the standard library.
int fail_from_lua(lua_State* L);

}  // namespace wgrun::lua
