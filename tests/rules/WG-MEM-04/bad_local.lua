-- WG-MEM-04, broken: what is read of a thread's local memory is not what is written.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, own = k:param("X", "u32*"), k:local_ { bytes = 16 }
  k:st_local_u32(own, k:special "tid.x")
  k:st_global_u32(k:element(X, k:special "tid.x"), k:ld_local_u32(own + 8)) -- EXPECT: WG-MEM-04
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
