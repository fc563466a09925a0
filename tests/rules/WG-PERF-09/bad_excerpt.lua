-- WG-PERF-09, broken: The lanes of a warp that access global memory together use most of each sector that they touch.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  -- a column of a matrix with rows of 64 elements
  local at = k:element(X, k:special "tid.x" * 64)
  local x = k:ld_global_f32(at) -- EXPECT PERF: WG-PERF-09
  k:st_global_f32(at, x * 2.0) -- EXPECT PERF: WG-PERF-09
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 64, 64 }) } }
