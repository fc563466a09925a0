-- WG-PERF-05, kept: lanes that read one word are served together, and what a branch leaves out is not there.
-- PERF
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local S = k:shared{bytes=2048, name="S"}
  local lane = k:special "tid.x"
  local base = k:mov(S, {type="u32"})
  k:st_shared_f32(k:mad_lo_u32(lane, 4, base), 0)
  k:bar_sync(0)
  local x = k:ld_shared_f32(k:mad_lo_u32(lane >> 3, 4, base))
  k:st_shared_f32(k:mad_lo_u32(lane, 32, base), x, { guard = lane:eq(1) })
end)
kernel:run { grid = { 1 }, args = {} }
