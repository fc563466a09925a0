-- WG-REG-02, broken: a producer and two consumers enter with 168 registers a thread; 48 and 2 x 232 are more. What the producer
-- does next depends on the queue that it draws from.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local counter, tiles = k:param("counter", "u32*"), k:param("tiles", "u32")
  local thread = k:special "tid.x"
  local queue = k:queue { counter = counter, tiles = tiles, readers = 8 }
  k:if_(thread:eq(0), function() queue:init() end)
  k:bar_sync(0, { threads = 384 })
  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(48)
    k:if_(thread:eq(0), function() queue:draw(function() end) end)
  end, function()
    k:setmaxnreg_inc(232) -- EXPECT: WG-REG-02
    queue:each(function() end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 1 }), 3 } }
