-- WG-REG-03, kept: the warps of the warpgroup meet at an mbarrier between the two.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local met = k:shared { bytes = 8, align = 8, name = "met" }
  k:mbarrier_init(met, 128, { guard = k:special("tid.x"):eq(0) })
  k:bar_sync(0)
  k:setmaxnreg_dec(40)
  k:mbarrier_arrive(met)
  k:mbarrier_wait(met, 0)
  k:setmaxnreg_inc(64)
end)
kernel:run { grid = { 1 }, args = {} }
