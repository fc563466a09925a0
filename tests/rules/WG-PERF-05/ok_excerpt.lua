-- WG-PERF-05, kept: The lanes of a warp that shared memory serves together access different banks, or one word.
-- PERF
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local S = k:shared{bytes=4096, name="S"}
  local address = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
  k:st_shared_f32(address, 0)
  local x = k:ld_shared_f32(address)
end)
kernel:run { grid = { 1 }, args = {} }
