-- WG-SYNC-07, kept: a loop stores to one place for many turns, and counts them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, n = k:param("Y", "u32*"), k:mov(20000, { type = "u32" })
  k:while_(function() return n:gt(0) end, function()
    n:set(n - 1)
    k:st_global_u32(k:element(Y, k:special "tid.x"), 7)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
