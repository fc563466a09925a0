-- WG-REG-02, kept: the inc of one warpgroup waits for what the others give back later, and exact fits.
local wg = require "wgrun"

for _, registers in ipairs { { 384, 24, 240 }, { 384, 40, 232 }, { 512, 32, 160 }, { 256, 56, 256 } } do
  local threads, producer, consumer = table.unpack(registers)
  local kernel = wg.kernel("case", { threads = threads }, function(k)
    local group = k:special "tid.x" >> 7
    k:if_(group:eq(0), function()
      k:loop(100, function() k:bar_sync(1, { threads = 128 }) end)
      k:setmaxnreg_dec(producer)
    end, function()
      k:setmaxnreg_inc(consumer)
    end)
  end)
  kernel:run { grid = { 1 }, args = {} }
end
