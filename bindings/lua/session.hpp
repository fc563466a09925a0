// Decisions of the session where the script leaves them open, and the kernels that it keeps.
#pragma once

#include <lua.hpp>

#include "bindings/lua/member.hpp"
#include "wgrun/session.hpp"

namespace wgrun::lua {

/// Resolves the back end that a launch names: the session's where the script leaves it open, never
/// `automatic`. Makes a remark once when the automatic choice is the simulator.
Backend resolve_backend(lua_State* L, Backend asked);

/// Prints for the script, which has no other output than `print`.
void print_text(lua_State* L, std::string_view text);

class Options;

/// The keys of the option `numerics`, where it is a table.
inline constexpr Option numerics_keys[] = {
    {"block", "integer = 0",
     "the number of products that are added at once; 0: all, exactly, with one rounding"},
    {"fraction", "integer = 25",
     "the bits that an addend keeps below the largest exponent of its block, 1 to 40"},
    {"result", "integer = 23", "the fraction bits that a sum keeps, 1 to 23"},
    {"nearest", "boolean = false", "rounds addends to nearest even instead of truncating them"},
    {"inside", "boolean = true",
     "the accumulator is an addend of the first block; otherwise it is added to each sum"}};

/// The option `numerics`: "exact", "h200" or { block =, fraction =, result =, nearest =, inside = }; the
/// session's where it is absent.
isa::Numerics read_numerics(lua_State* L, const Options& options);

/// Keeps the kernel userdata at `index`, when the session traces.
void remember_kernel(lua_State* L, int index);

/// Pushes the list of the kernels kept, in the order they were made.
void push_kernels(lua_State* L);
/// Pops a table, which becomes that list.
void set_kernels(lua_State* L);

}  // namespace wgrun::lua
