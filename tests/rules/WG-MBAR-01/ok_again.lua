-- WG-MBAR-01, kept: mbarrier.inval between the two lives of an mbarrier.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("tid.x"):eq(0)
  for turn = 1, 2 do
    k:mbarrier_init(full, 128, { guard = first })
    k:bar_sync(0)
    k:mbarrier_arrive(full)
    k:mbarrier_wait(full, 0)
    k:bar_sync(0)
    k:mbarrier_inval(full, { guard = first })
  end
end)
kernel:run { grid = { 1 }, args = {} }
