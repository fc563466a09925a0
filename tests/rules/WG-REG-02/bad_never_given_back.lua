-- WG-REG-02, broken: the producer gives its registers back only after it has heard of the consumers, who wait for them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function()
    k:bar_sync(1, { threads = 384 })
    k:setmaxnreg_dec(40)
  end, function()
    k:setmaxnreg_inc(232) -- EXPECT: WG-REG-02
    k:bar_sync(1, { threads = 384 })
  end)
end)
kernel:run { grid = { 1 }, args = {} }
