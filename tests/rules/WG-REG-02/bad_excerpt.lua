-- WG-REG-02, broken: setmaxnreg.inc asks for no fewer and setmaxnreg.dec for no more registers than the warp has, and all warps together for no more than the CTA entered with.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  -- threads = 384: each enters with 168 registers
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function() k:setmaxnreg_dec(40) end)
  k:if_(group:gt(0), function() k:setmaxnreg_dec(232) end) -- EXPECT: WG-REG-02
end)
kernel:run { grid = { 2 }, args = {} }
