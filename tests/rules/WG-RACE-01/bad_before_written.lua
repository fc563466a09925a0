-- The other warp may not have written yet: that is the race, and no second fault.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, S = k:param("Y", "u32*"), k:shared { bytes = 256, align = 16, name = "S" }
  local thread, base = k:special "tid.x", k:mov(S, { type = "u32" })
  k:st_shared_u32(k:mad_lo_u32(thread, 4, base), thread) -- EXPECT: WG-RACE-01
  k:bar_warp_sync()
  k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:mad_lo_u32(thread ~ 32, 4, base))) -- EXPECT: WG-RACE-01
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 64) } }
