-- https://github.com/tile-ai/tilelang/issues/2406: setmaxnreg of 24 and 240 were written whatever the number of
-- warpgroups: with one producer and three consumers more is asked for than there is, and inc waits for ever.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("roles", { threads = 512 }, function(k)
  local producer = (k:special "tid.x" >> 7):eq(0)
  k:if_(producer, function()
    k:setmaxnreg_dec(24)
  end, function()
    k:setmaxnreg_inc(kit.is "bug" and 240 or 160) -- EXPECT: WG-REG-02
  end)
end)
kernel:run { grid = { 1 }, args = {} }
