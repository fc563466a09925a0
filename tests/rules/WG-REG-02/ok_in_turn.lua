-- WG-REG-02, kept: one consumer gives its registers back for the other, after the producer, whose loop depends on memory, has told it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 384 }, function(k)
  local counts = k:param("counts", "const u32*")
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function()
    k:setmaxnreg_dec(120)
    k:loop(k:ld_global_u32(counts) & 1, function() k:nanosleep(20) end)
    k:bar_sync(1, { threads = 256 })
  end, function()
    k:if_(group:eq(1), function()
      k:bar_sync(1, { threads = 256 })
      k:setmaxnreg_dec(96)
    end, function()
      k:setmaxnreg_inc(240)
    end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 1 }) } }
