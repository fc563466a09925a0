-- WG-MEM-07, kept: accesses to local memory stay within what the thread has declared.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local own = k:local_ { bytes = 16 }
  k:st_local_u32(own, 1)
  local x = k:ld_local_u32(own)
  k:st_global_f32(k:element(X, k:special "tid.x"), k:cvt_rn_f32_u32(x))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 32) } }
