-- WG-SYNC-07, broken: Every loop of a kernel ends.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X = k:param("X", "u32*")
  local n = k:mov(8, { type = "u32" })
  k:while_(function() return n:gt(0) end, function() -- EXPECT IN RUN: WG-SYNC-07 -- EXPECT: WG-SYNC-07
    local half = n >> 1 -- and n stays what it is
  end)
  k:st_global_u32(k:element(X, 0), n)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 1 }) } }
