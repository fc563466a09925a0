-- WG-MEM-02, broken: The address of an access is a multiple of the bytes that it moves.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local S = k:shared{bytes=528, name="S"}
  local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
  k:st_shared_f32(address, 0)
  k:bar_sync(0)
  local x = k:ld_shared_v4_f32(address)   -- 16 bytes from a multiple of 4 -- EXPECT IN RUN: WG-MEM-02 -- EXPECT: WG-MEM-02
end)
kernel:run { grid = { 2 }, args = {} }
