-- WG-MBAR-06, broken: nothing keeps the first warp from completing two phases while the second waits for one.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local thread = k:special "tid.x"
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:mbarrier_init(full, 32, { guard = thread:eq(0) })
  k:bar_sync(0)
  k:if_(thread:lt(32), function()
    k:mbarrier_arrive(full)
    k:mbarrier_wait(full, 0)
    k:mbarrier_arrive(full)
    k:mbarrier_wait(full, 1)
  end, function()
    k:mbarrier_wait(full, 0) -- EXPECT: WG-MBAR-06
  end)
end)
kernel:run { grid = { 1 } }
