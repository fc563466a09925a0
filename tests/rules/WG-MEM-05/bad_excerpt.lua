-- WG-MEM-05, broken: A kernel does not write through a parameter that it declares const.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "const f32*")
  k:st_global_f32(k:element(X, k:special "tid.x"), 1) -- EXPECT IN RUN: WG-MEM-05 -- EXPECT: WG-MEM-05
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
