-- WG-MBAR-04, kept: The 8 bytes of a live mbarrier are accessed by the mbarrier instructions alone.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("tid.x"):eq(0)
  k:mbarrier_init(full, 1, {guard=first})
  k:bar_sync(0)
  k:mbarrier_arrive(full, {guard=first})
  local complete = k:mbarrier_test_wait_parity(full, 0)
end)
kernel:run { grid = { 2 }, args = {} }
