-- WG-RACE-04, broken: a warp overwrites the line of a tensor from which a bulk copy that has begun may still read.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local map, X = k:tensor_map("map", { dtype = "u32", box = { 32 } }), k:param("X", "u32*")
  local line = k:shared { bytes = 128, align = 128, name = "line" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  local first = thread:eq(0)
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128)
    k:cp_async_bulk_tensor_1d(line, map, { k:mov(0, { type = "s32" }) }, full)
  end)
  k:bar_sync(0)
  k:if_(thread:ge(32), function()
    k:st_global_u32(k:element(X, thread - 32), thread) -- EXPECT: WG-RACE-04 -- EXPECT IN RUN: WG-RACE-04
  end)
  k:mbarrier_wait(full, 0)
end)
local X = wg.zeros("u32", { 32 })
kernel:run { grid = { 1 }, args = { X, X } }
