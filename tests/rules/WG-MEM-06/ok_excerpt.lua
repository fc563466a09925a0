-- WG-MEM-06, kept: What is read through ld.global.nc is not written while the kernel runs: neither by it nor by a launch before it that has not ended when it begins.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, thread = k:param("X", "f32*"), k:special "tid.x"
  local place = k:element(X, thread)
  k:st_global_f32(place, 1)
  k:bar_sync(0)
  local before = k:ld_global_f32(place)
  k:st_global_f32(place, before + 1)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
