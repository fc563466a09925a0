-- WG-MBAR-06, kept: the lowest bit of a number that counts on is the parity.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:mbarrier_init(full, 128, { guard = k:special("tid.x"):eq(0) })
  k:bar_sync(0)
  k:loop(3, function(i)
    k:mbarrier_arrive(full)
    k:mbarrier_wait(full, i & 1)
  end)
end)
kernel:run { grid = { 1 } }
