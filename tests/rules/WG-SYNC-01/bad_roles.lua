-- WG-SYNC-01, broken: the warpgroup that comes lacks the thread that produces.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local thread = k:special "tid.x"
  k:if_(thread:eq(128), function() k:nanosleep(20) end, function()
    k:if_(thread:ge(128), function()
      k:wgmma_fence() -- EXPECT: WG-SYNC-01
    end)
  end)
end)
kernel:run { grid = { 1 }, args = {} }
