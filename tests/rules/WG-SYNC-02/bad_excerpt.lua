-- WG-SYNC-02, broken: As many threads arrive at a barrier as it waits for, and the number is the same for all of them.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local tid = k:special "tid.x"
  k:if_(tid:lt(128), function()
    k:bar_sync(1, {threads=256}) -- EXPECT: WG-SYNC-02
  end)
end)
kernel:run { grid = { 2 }, args = {} }
