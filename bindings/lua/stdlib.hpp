// The Lua half of the library: stdlib/*.lua, compiled in by cmake/embed.cmake.
//
// Every file ROOM/NAME.lua is the module "wgrun.ROOM.NAME". It requires what it uses, of its own room and of
// those before it (tests/house.cmake has their order), returns a table of its functions, and adds methods to
// classes, and functions to wg. All files are run at the end of luaopen_wgrun; scripts cannot require them.
// Chunks are named "=[wgrun]/ROOM/NAME", so that no error points into them. What they have of C++ is the
// module "wgrun.native":
//   methods                 the method tables of layout, swizzle, tile, tensor, kernel and builder
//   classes                 the classes that are Lua tables, by name (stdlib/classes.lua)
//   modules                 the names of the files
//   fail(message [, fix [, rule [, section]]])   raises an error object at the calling script's line
//   shielded(function, name)   see shield.hpp
//   option_schema(function)   the options of a table: names, types, defaults
//   nearest(word, list)     ": did you mean `x`?" for a misspelt word
//   element_type(name)      raises where no type has that name, with what it is called here
//   before_body(k, body), after_body(what, k, body, before)   see loop_body.hpp
//   inline_ptx(k, what), simulated_only(k, whether)   see asm.hpp
//   points_to(address, pointer)   says that `address` is of an element behind a pointer parameter
//   cache_folder(name), read_own(path), update_own(path, change), on_terminal(),
//   progress(what, total, unit)   see host.cpp
//   element_bytes[dtype], wgmma_k[dtype]   what number and layout know of types
//   roofline                what limits a kernel (wgrun/chips.hpp)
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

/// What Lua makes of the files, of which reading needs ten times as long. It suits the Lua that made it and
/// no other.
struct StdlibCode {
    std::string_view lua;  ///< its lua_ident
    std::span<const std::string_view>
        files;  ///< in the order of stdlib_files(); none: what builds cannot run Lua
};

StdlibCode stdlib_code();

/// scripts/guide/*.lua, in the order of their names. Only the tool has them (bindings/cli/new.cpp).
std::span<const StdlibFile> guide_files();

/// Adds the functions of host.cpp to the table on top of the stack.
void push_host(lua_State* L);

/// Pushes the table of the classes that are Lua tables, by name; false, with another value, where the library
/// has not been run.
bool push_lua_classes(lua_State* L);

/// Runs all files, which extend the module table on top of the stack.
void run_stdlib(lua_State* L);

}  // namespace wgrun::lua
