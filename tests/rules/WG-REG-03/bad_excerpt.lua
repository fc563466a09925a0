-- WG-REG-03, broken: Between two setmaxnreg of a warpgroup its four warps synchronise.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  -- threads = 128
  k:setmaxnreg_dec(40)
  local x = k:mov(1, {type = "u32"})
  k:setmaxnreg_inc(64) -- EXPECT: WG-REG-03
end)
kernel:run { grid = { 2 }, args = {} }
