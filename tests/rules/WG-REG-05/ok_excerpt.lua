-- WG-REG-05, kept: no thread divides by zero.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X = k:param("X", "f32*")
  local thread = k:special "tid.x"
  local share = k:div_u32(1024, thread + 1)
  k:st_global_f32(k:element(X, thread), k:cvt_rn_f32_u32(share))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 32) } }
