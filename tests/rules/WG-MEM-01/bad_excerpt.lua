-- WG-MEM-01, broken: Every access to global memory lies inside a tensor that was passed to the kernel.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local i = k:mad_lo_u32(k:special "ctaid.x", 128, k:special "tid.x")
  local address = k:element(X, i)
  local x = k:ld_global_f32(address) -- EXPECT: WG-MEM-01 -- EXPECT IN RUN: WG-MEM-01
  k:st_global_f32(address, x) -- EXPECT: WG-MEM-01 -- EXPECT IN RUN: WG-MEM-01
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 200 }) } }
