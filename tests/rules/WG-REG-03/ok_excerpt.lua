-- WG-REG-03, kept: Between two setmaxnreg of a warpgroup its four warps synchronise.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  -- threads = 128
  k:setmaxnreg_dec(40)
  k:bar_sync(1, {threads=128})
  k:setmaxnreg_inc(64)
end)
kernel:run { grid = { 2 }, args = {} }
