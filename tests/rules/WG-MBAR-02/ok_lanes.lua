-- WG-MBAR-02, kept: the lanes of a warp meet between the init by one of them and its use by others; that one itself
-- uses the object at once.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first = k:special("laneid"):eq(0)
  k:mbarrier_init(full, 33, { guard = first })
  k:mbarrier_arrive(full, { guard = first })
  k:bar_warp_sync()
  k:mbarrier_arrive(full)
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = {} }
