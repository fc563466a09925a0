-- WG-PERF-07, kept: two warpgroups take turns by named barriers, so that one multiplies while the other computes. No data depend on it.
local wg = require "wgrun"

local kernel = wg.kernel("turns", { threads = 256 }, function(k)
  local Y = k:param("Y", "f32*")
  local thread = k:special "tid.x"
  local mine = thread >> 7
  local sum = k:mov(0.0, { type = "f32" })
  k:if_(mine:eq(1), function() k:bar_arrive(1, { threads = 256 }) end)
  k:loop(4, function()
    k:bar_sync(mine + 1, { threads = 256 }) -- PERF
    sum:set(sum + 1.0)
    k:bar_arrive(2 - mine, { threads = 256 })
  end)
  k:if_(mine:eq(0), function() k:bar_sync(1, { threads = 256 }) end)
  k:st_global_f32(k:element(Y, thread), sum)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 256 }) } }
