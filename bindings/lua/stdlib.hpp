// The Lua half of the library: stdlib/*.lua, compiled in by cmake/embed.cmake.
//
// Every file ROOM/NAME.lua is the module "wgrun.ROOM.NAME". It requires what it uses, of its own room and of
// those before it (tests/house.cmake has their order), returns a table of its functions, and adds functions
// to wg and methods to k, each in a line that begins with `function wg.` or `function k:`. A file is run when
// one of these is first called (stdlib/first_use.lua); scripts cannot require files. Chunks are named
// "=[wgrun]/ROOM/NAME", so that no error points into them. What they have of C++ is the module
// "wgrun.native":
//   methods                 the method tables of layout, swizzle, tile, tensor, kernel and builder
//   classes                 the classes that are Lua tables, by name (stdlib/classes.lua)
//   modules                 the names of the files
//   fail(message [, fix [, rule [, section]]])   raises an error object at the calling script's line
//   compress(t, order)      wg.sparse.compress of tensors of the host
//   shielded(function, name)   see shield.hpp
//   first_use(find)         a function that calls the one that find() returns
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

struct StdlibPart {
    std::string_view code;                        ///< what Lua makes of the file
    std::span<const std::string_view> functions;  ///< that scripts can call: "wg.gemm", "k:loop"
};

/// What the build makes of the files. Reading their text needs ten times as long as reading their code, which
/// suits the Lua that made it and no other.
struct StdlibCode {
    std::string_view lua;               ///< its lua_ident
    std::span<const StdlibPart> files;  ///< in the order of stdlib_files(); none: what builds cannot run Lua
};

StdlibCode stdlib_code();

/// scripts/guide/*.lua, in the order of their names. Only the tool has them (bindings/cli/new.cpp).
std::span<const StdlibFile> guide_files();

/// Adds the functions of host.cpp to the table on top of the stack.
void push_host(lua_State* L);

/// Pushes the table of the classes that are Lua tables, by name; false, with another value, where the library
/// has not been run.
bool push_lua_classes(lua_State* L);

/// Extends the module table on top of the stack by what the files have.
void run_stdlib(lua_State* L);

}  // namespace wgrun::lua
