-- WG-MBAR-06, broken: the count of a number that is no state.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local pending = k:mbarrier_pending_count(k:mov(7, { type = "u64" })) -- EXPECT: WG-MBAR-06
  k:st_global_u32(k:element(k:param("X", "u32*"), k:special "tid.x"), pending)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
