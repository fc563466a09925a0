-- WG-SYNC-01, kept: one thread produces, the rest of its warpgroup does nothing, and another warpgroup comes whole. Whether threads come together
-- all conditions on the way decide, not each by itself.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function() k:nanosleep(20) end, function()
    k:if_(thread:ge(128), function()
      k:bar_sync(1, { threads = 128 })
      k:wgmma_fence()
    end)
  end)
  k:if_((thread & 127):eq(0) & thread:lt(128), function() k:nanosleep(20) end, function()
    k:if_(thread:ge(128), function()
      k:setmaxnreg_inc(232)
      k:wgmma_fence()
    end)
  end)
  -- A warp of the first warpgroup.
  k:if_(thread:eq(40), function() k:nanosleep(20) end, function()
    k:if_((thread >> 5):eq(2), function() k:bar_sync(2, { threads = 32 }) end)
  end)
end)
kernel:run { grid = { 1 }, args = {} }
