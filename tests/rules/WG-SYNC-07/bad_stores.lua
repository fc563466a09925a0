-- Each turn stores the same: no value of a register has changed where the loop begins again.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, n = k:param("Y", "u32*"), k:special "tid.x"
  k:while_(function() return n:lt(32) end, function() -- EXPECT IN RUN: WG-SYNC-07 -- EXPECT: WG-SYNC-07
    k:st_global_u32(k:element(Y, n), n + 1)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
