-- WG-PERF-04, kept: The values of a thread fit into its registers: none is spilled.
local wg = require "wgrun"
-- ASSEMBLED

local kernel = wg.kernel("case", { threads = 512 }, function(k)
  local X = k:param("X", "f32*")
  -- threads = 512: 128 registers each
  local at, v = k:element(X, k:special "tid.x"), {}
  for i = 0, 49 do v[i] = k:ld_global_f32(at, {offset=2048*i}) end
  for i = 0, 49 do k:st_global_f32(at, v[i], {offset=2048*(49-i)}) end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 512 * 300 }) } }
