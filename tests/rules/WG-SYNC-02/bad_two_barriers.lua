-- WG-SYNC-02, broken: the halves of a warp wait at two barriers, each of which waits for the whole warp.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  k:if_(k:special("tid.x"):lt(16), function()
    k:barrier_sync(1, { threads = 32 })
  end, function()
    k:barrier_sync(2, { threads = 32 }) -- EXPECT: WG-SYNC-02 -- EXPECT IN RUN: WG-SYNC-02
  end)
end)
kernel:run { grid = { 1 }, args = {} }
