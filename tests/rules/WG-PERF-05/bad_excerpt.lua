-- WG-PERF-05, broken: The lanes of a warp that shared memory serves together access different banks, or one word.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local S = k:shared{bytes=4096, name="S"}
  local address = k:mad_lo_u32(k:special "tid.x", 32, k:mov(S, {type="u32"}))
  k:st_shared_f32(address, 0) -- EXPECT PERF: WG-PERF-05
  local x = k:ld_shared_f32(address) -- EXPECT PERF: WG-PERF-05
end)
kernel:run { grid = { 1 }, args = {} }
