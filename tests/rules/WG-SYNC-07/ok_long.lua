-- WG-SYNC-07, kept: a loop of many turns comes back to the same values now and then, but not to all of them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "u32*")
  local n, low = k:mov(20000, { type = "u32" }), k:mov(0, { type = "u32" })
  k:while_(function() return n:gt(0) end, function()
    n:set(n - 1)
    low:set(n & 1)
  end)
  k:if_(k:special "tid.x":eq(0), function() k:st_global_u32(k:element(X, 0), low) end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 1 }) } }
