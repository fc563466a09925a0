-- WG-RACE-01, broken: a warp reads, one of its lanes arrives for all, and nothing says that the others have read.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  local S, empty = k:shared { bytes = 128, name = "S" }, k:shared { bytes = 8, align = 8, name = "empty" }
  local thread, lane = k:special "tid.x", k:special "laneid"
  local own = k:mad_lo_u32(lane, 4, k:mov(S, { type = "u32" }))
  k:mbarrier_init(empty, 1, { guard = thread:eq(0) })
  k:if_(thread:lt(32), function() k:st_shared_f32(own, 1) end)
  k:bar_sync(0)
  k:if_(thread:lt(32), function()
    k:mbarrier_wait(empty, 0)
    k:st_shared_f32(own, 2) -- EXPECT IN RUN: WG-RACE-01 -- EXPECT: WG-RACE-01
  end, function()
    k:st_global_f32(k:element(X, lane), k:ld_shared_f32(own))
    k:mbarrier_arrive(empty, { guard = lane:eq(0) })
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
