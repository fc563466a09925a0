-- WG-SYNC-02, broken: of the three warpgroups that barrier 2 counts, only two come.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function() k:bar_arrive(2, { threads = 384 }) end)
  k:if_(group:eq(1), function() k:bar_sync(2, { threads = 384 }) end) -- EXPECT: WG-SYNC-02
end)
kernel:run { grid = { 1 }, args = {} }
