-- WG-RACE-04, broken: two threads of a step write one place.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, thread = k:param("X", "u32*"), k:special "tid.x"
  k:st_global_u32(k:element(X, thread >> 1), thread) -- EXPECT IN RUN: WG-RACE-04 -- EXPECT: WG-RACE-04
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
