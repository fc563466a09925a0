// Timelines that scripts have as tables.
#pragma once

#include <lua.hpp>

#include "wgrun/timeline.hpp"

namespace wgrun::lua {

/// The timeline of which the table at `index` was made; null for any other value. Lives as long as the table.
const Timeline* timeline_at(lua_State* L, int index);

}  // namespace wgrun::lua
