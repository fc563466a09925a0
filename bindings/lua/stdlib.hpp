// The Lua half of the library: stdlib/*.lua, compiled in by cmake/embed.cmake.
//
// stdlib/init.lua runs at the end of luaopen_wgrun as init(wg, internal) and may extend wg. `internal` has
//   methods                 the method tables of layout, swizzle, tile, tensor, kernel and builder
//   classes                 the classes that are Lua tables, which internal.class(name) makes
//   fail(message [, fix [, rule [, section]]])   raises an error object at the calling script's line
//   option_keys(function)   the keys of an option table
//   nearest(word, list)     ": did you mean `x`?" for a misspelt word
//   element_type(name)      raises where no type has that name, with what it is called here
//   before_body(k, body), after_body(what, k, body, before)   see loop_body.hpp
//   points_to(address, pointer)   says that `address` is of an element behind a pointer parameter
//   cache_folder(name), read_own(path), update_own(path, change), on_terminal()   see host.cpp
//   element_bytes[dtype], wgmma_k[dtype]   what number and layout know of types
//   roofline                what limits a kernel (wgrun/chips.hpp)
// and what the files of stdlib/ add. Every other file NAME.lua is the module "wgrun.NAME", run as
// file(modname, wg). Chunks are named "=[wgrun]/NAME", so that no error points into them.
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

/// Makes every file but init available to require; they get the module table on top of the stack.
void preload_stdlib(lua_State* L);

/// Adds the functions of host.cpp to the table on top of the stack.
void push_host(lua_State* L);

/// Pushes the table of the classes that are Lua tables (internal.class), by name; false, with another value,
/// where init.lua has not run.
bool push_lua_classes(lua_State* L);

/// Runs init.lua on the module table on top of the stack.
void run_init(lua_State* L);

}  // namespace wgrun::lua
