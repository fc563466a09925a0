-- WG-MEM-02, kept: The address of an access is a multiple of the bytes that it moves.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local S = k:shared{bytes=528, name="S"}
  local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
  k:st_shared_f32(address, 0)
  k:bar_sync(0)
  local x = k:ld_shared_f32(address)
end)
kernel:run { grid = { 2 }, args = {} }
