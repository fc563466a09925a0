-- Lanes 8 to 15 read lanes 16 to 23, which the membermask does not name.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local Y, lane = k:param("Y", "u32*"), k:special "laneid"
  k:if_(lane:lt(16), function()
    local value = k:mov(lane, { type = "b32" })
    local other = k:shfl_sync_down(value, 8, 31, { membermask = 0xFFFF }) -- EXPECT: WG-SYNC-08
    k:st_global_b32(k:element(Y, lane), other)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
