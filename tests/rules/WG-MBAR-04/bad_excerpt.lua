-- WG-MBAR-04, broken: The 8 bytes of a live mbarrier are accessed by the mbarrier instructions alone.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("tid.x"):eq(0)
  k:mbarrier_init(full, 1, {guard=first})
  k:bar_sync(0)
  k:mbarrier_arrive(full, {guard=first})
  local state = k:ld_shared_u32(full) -- EXPECT IN RUN: WG-MBAR-04 -- EXPECT: WG-MBAR-04
end)
kernel:run { grid = { 2 }, args = {} }
