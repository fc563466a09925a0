-- WG-SYNC-07, kept: Every loop of a kernel ends.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X = k:param("X", "u32*")
  local n = k:mov(8, { type = "u32" })
  k:while_(function() return n:gt(0) end, function()
    n:set(n >> 1)
  end)
  k:if_(k:special "tid.x":eq(0), function() k:st_global_u32(k:element(X, 0), n) end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 1 }) } }
