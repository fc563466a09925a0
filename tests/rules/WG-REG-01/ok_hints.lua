-- WG-REG-01, kept: policies and times are written on every path before they are read.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, Y, thread = k:param("X", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  local policy, time = k:reg "b64", k:reg "u32"
  k:mov(policy, k:createpolicy_fractional_L2_evict_last(1.0))
  time:set(20)
  local x = k:ld_global_f32(k:element(X, thread), { policy = policy })
  k:nanosleep(time)
  k:st_global_f32(k:element(Y, thread), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 64 }), wg.zeros("f32", { 64 }) } }
