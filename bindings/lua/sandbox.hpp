// Refusals for restricted scripts.
#pragma once

#include "wgrun/sandbox.hpp"

namespace wgrun::lua {

/// Raises an error when the state is restricted. `what` names what is refused: "wg.load".
void check_unrestricted(lua_State* L, const char* what);

}  // namespace wgrun::lua
