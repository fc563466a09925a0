-- WG-SYNC-02, broken: two roles meet at barrier 1 and give it different numbers of threads.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function()
    k:bar_sync(1, { threads = 384 })
  end, function()
    k:bar_sync(1, { threads = 256 }) -- EXPECT: WG-SYNC-02
  end)
end)
kernel:run { grid = { 1 }, args = {} }
