-- WG-MBAR-05, broken: nobody arrives at the mbarrier that all wait for.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 16, align = 8, name = "full" }
  local second = k:address(full, 8)
  local first = k:special("tid.x"):eq(0)
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:mbarrier_init(second, 1)
  end)
  k:bar_sync(0)
  k:mbarrier_arrive(full, { guard = first })
  k:mbarrier_wait(second, 0) -- EXPECT: WG-MBAR-05
end)
kernel:run { grid = { 1 }, args = {} }
