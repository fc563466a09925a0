-- WG-MBAR-05, broken: the mbarrier counts 128 threads, and one lane of each warp arrives.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local done = k:shared { bytes = 8, align = 8, name = "done" }
  local thread = k:special "tid.x"
  k:mbarrier_init(done, 128, { guard = thread:eq(0) })
  k:bar_sync(0)
  k:mbarrier_arrive(done, { guard = (thread & 31):eq(0) })
  k:mbarrier_wait(done, 0) -- EXPECT: WG-MBAR-05
end)
kernel:run { grid = { 1 }, args = {} }
