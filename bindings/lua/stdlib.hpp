// The Lua half of the library: stdlib/*.lua, compiled in by cmake/embed.cmake.
//
// stdlib/init.lua runs at the end of luaopen_wgrun as init(wg, internal) and may extend wg; internal.methods
// has the method tables of the classes by name (layout, swizzle, tile, tensor, kernel, builder) and
// internal.fail(message
// [, fix [, rule [, section]]]) raises an error object at the calling script's line;
// internal.option_keys(function) lists the keys of an option table, nearest(word, list) says which of them a
// misspelt one may have meant, classes is where internal.class(name) puts the
// classes that are Lua tables; internal.cache_folder(name), read_own(path), update_own(path, change) and
// on_terminal() are of host.cpp. Every other file NAME.lua is what
// require "wgrun.NAME" gives, run as file(modname, wg). Chunks are named "=[wgrun]/NAME", so that no error
// points into them.
#pragma once

#include <lua.hpp>

#include <span>
#include <string_view>

namespace wgrun::lua {

struct StdlibFile {
    std::string_view name;  ///< without .lua
    std::string_view text;
};

std::span<const StdlibFile> stdlib_files();

/// scripts/guide/*.lua, in the order of their names. Only the tool has them (bindings/cli/new.cpp).
std::span<const StdlibFile> guide_files();

/// Makes every file but init available to require; they will see the module table on top of the stack.
void preload_stdlib(lua_State* L);

/// Adds what the machine can say (host.cpp) to the table on top of the stack.
void push_host(lua_State* L);

/// Pushes the table of the classes that are Lua tables (internal.class), by name; false, with another value, where
/// init.lua has not run.
bool push_lua_classes(lua_State* L);

/// Runs init.lua on the module table on top of the stack.
void run_init(lua_State* L);

}  // namespace wgrun::lua
