-- WG-MBAR-02, broken: warp 0 initialises the mbarrier, and nothing tells the other warps.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("tid.x"):eq(0)
  k:mbarrier_init(full, 128, { guard = first })
  k:fence_mbarrier_init()
  k:mbarrier_arrive(full) -- EXPECT: WG-MBAR-02
  k:mbarrier_wait(full, 0) -- EXPECT: WG-MBAR-02
end)
kernel:run { grid = { 1 }, args = {} }
