-- WG-SYNC-01, broken: setmaxnreg is executed by one warp of the warpgroup.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local warp = k:special "tid.x" >> 5
  k:if_(warp:eq(0), function()
    k:setmaxnreg_dec(40) -- EXPECT: WG-SYNC-01
  end)
end)
kernel:run { grid = { 1 }, args = {} }
