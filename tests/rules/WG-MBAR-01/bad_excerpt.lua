-- WG-MBAR-01, broken: An mbarrier is initialised once before it is used, in 8 aligned bytes of shared memory, and ended by mbarrier.inval.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("tid.x"):eq(0)
  k:if_(first, function()
    k:fence_mbarrier_init()
    k:mbarrier_arrive(full) -- EXPECT: WG-MBAR-01
  end)
  k:bar_sync(0)
end)
kernel:run { grid = { 2 }, args = {} }
