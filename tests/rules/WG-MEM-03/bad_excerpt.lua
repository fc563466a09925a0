-- WG-MEM-03, broken: Every access to shared memory lies inside the shared memory of the CTA.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local S = k:shared{bytes=128, name="S"}
  local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
  k:st_shared_f32(address, 0)   -- 128 threads, 4 bytes each -- EXPECT IN RUN: WG-MEM-03 -- EXPECT: WG-MEM-03
  k:bar_sync(0)
end)
kernel:run { grid = { 2 }, args = {} }
