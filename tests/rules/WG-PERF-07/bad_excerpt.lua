-- WG-PERF-07, broken: Every barrier, fence and wait orders something.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
  local words = k:shared { bytes = 256, align = 16, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  local mine, other = k:mad_lo_u32(thread, 4, start), k:mad_lo_u32(thread ~ 32, 4, start)
  k:st_shared_f32(mine, k:ld_global_f32(k:element(X, thread)))
  k:bar_sync(0) -- EXPECT PERF: WG-PERF-07
  local x = k:ld_shared_f32(mine) -- what the thread itself has stored
  k:st_global_f32(k:element(Y, thread), x)
end)
kernel:run { grid = { 2 }, args = { wg.ones("f32", { 64 }), wg.zeros("f32", { 64 }) } }
