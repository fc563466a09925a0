// Lua variables that the body of a loop changes. The body is traced once, so a variable that gets another
// register in it carries nothing into the next round: `sum = sum + x` reads the register from before the loop
// in every round.
#pragma once

#include <lua.hpp>

namespace wgrun::lua {

/// Lua: before_body(k, body): what the variables of the function hold that it shares with its surroundings,
/// for after_body.
int before_body(lua_State* L);

/// Lua: after_body(what, k, body, before): raises an error where a variable held a number or a register
/// before, holds another register now, and an instruction since then has read the old one.
int after_body(lua_State* L);

}  // namespace wgrun::lua
