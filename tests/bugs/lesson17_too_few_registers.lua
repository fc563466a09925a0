-- https://github.com/triton-lang/triton/issues/11287: setmaxnreg 16 was written; it takes 24 to 256, in steps of 8.
-- bad: few odd
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("few", { threads = 128 }, function(k)
  k:setmaxnreg_dec(kit.is "few" and 16 or kit.is "odd" and 100 or 24) -- EXPECT: WG-FORM-02
end)
kernel:run { grid = { 1 }, args = {} }
