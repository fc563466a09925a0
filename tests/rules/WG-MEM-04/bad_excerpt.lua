-- WG-MEM-04, broken: Shared memory is written before it is read.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared{bytes=512, name="S"}
  local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
  local x = k:ld_shared_f32(address) -- EXPECT IN RUN: WG-MEM-04 -- EXPECT: WG-MEM-04
  k:st_global_f32(k:element(X, k:special "tid.x"), x)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 200 }) } }
