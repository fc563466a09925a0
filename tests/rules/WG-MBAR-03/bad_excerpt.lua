-- WG-MBAR-03, broken: In each phase as many arrive at an mbarrier as mbarrier.init says and as many bytes come as expect_tx says, and what belongs to the next phase comes after a wait for this one.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("tid.x"):eq(0)
  -- 128 threads arrive
  k:mbarrier_init(full, 96, {guard=first})
  k:bar_sync(0)
  k:mbarrier_arrive(full) -- EXPECT: WG-MBAR-03
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 2 }, args = {} }
