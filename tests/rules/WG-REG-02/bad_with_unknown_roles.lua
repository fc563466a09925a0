-- WG-REG-02, broken: what the producer does then depends on memory; too many registers are asked for all the same.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local counts = k:param("counts", "const u32*")
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function()
    k:setmaxnreg_dec(240)
    k:loop(k:ld_global_u32(counts), function() k:bar_sync(1, { threads = 128 }) end)
  end, function()
    k:setmaxnreg_inc(256)
    k:bar_sync(2, { threads = 128 })
    k:setmaxnreg_dec(248)
    k:bar_sync(2, { threads = 128 })
    k:setmaxnreg_dec(232)
  end)
end)
local other = wg.kernel("other", { threads = 512 }, function(k)
  local counts = k:param("counts", "const u32*")
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function()
    k:setmaxnreg_dec(24)
    k:loop(k:ld_global_u32(counts), function() k:bar_sync(1, { threads = 128 }) end)
  end, function()
    k:setmaxnreg_inc(168) -- EXPECT: WG-REG-02
  end)
end)
local counts = wg.zeros("u32", { 1 })
kernel:run { grid = { 1 }, args = { counts } }
other:run { grid = { 1 }, args = { counts } }
