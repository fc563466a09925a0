-- WG-PERF-07, kept: the launch does not read what other warps have stored, but launches with a greater n do, and the proof needs
-- the barrier.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, n = k:param("Y", "f32*"), k:param("n", "u32")
  local words = k:shared { bytes = 256, align = 16, name = "words" }
  local thread, start = k:special "tid.x", k:mov(words, { type = "u32" })
  local x = k:mov(1.0, { type = "f32" })
  k:st_shared_f32(k:mad_lo_u32(thread, 4, start), x)
  k:bar_sync(0) -- PERF
  k:if_(n:gt(1000), function() x:set(k:ld_shared_f32(k:mad_lo_u32(thread ~ 32, 4, start))) end)
  k:st_global_f32(k:element(Y, thread), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 64 }), 3 } }
