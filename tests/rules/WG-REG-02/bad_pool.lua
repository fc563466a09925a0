-- WG-REG-02, broken: one producer and four consumer warpgroups enter with 96 registers a thread; 24 and 4 x 120 are more.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 640 }, function(k)
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function()
    k:setmaxnreg_dec(24)
  end, function()
    k:setmaxnreg_inc(120) -- EXPECT: WG-REG-02
  end)
end)
kernel:run { grid = { 2 }, args = {} }
