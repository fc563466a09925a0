-- WG-MBAR-02, broken: one lane initialises, and the others of its warp are not told.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:mbarrier_init(full, 32, { guard = k:special("laneid"):eq(0) })
  k:mbarrier_arrive(full) -- EXPECT: WG-MBAR-02
end)
kernel:run { grid = { 1 }, args = {} }
