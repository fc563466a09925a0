-- Two sets of accumulators in turn: the older is read while the wgmma of the younger still runs, across the back edge of
-- the loop.
-- good: k2 k4 k10
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
local rounds = math.tointeger(tonumber(kit.variant:match "%d+" or 2))

local kernel = wg.kernel("pingpong", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  local out = k:param("D", "f32*")
  kit.fill(k, { a, b })
  local acc, sum = { k:regs("f32", 32), k:regs("f32", 32) }, k:mov(0, { type = "f32" })
  kit.multiply(k, acc[1], a, b)
  k:loop({ from = 0, to = rounds, step = 2 }, function()
    kit.multiply(k, acc[2], a, b)
    k:wgmma_wait_group(1)
    k:add(sum, sum, acc[1][5])
    kit.multiply(k, acc[1], a, b)
    k:wgmma_wait_group(1)
    k:add(sum, sum, acc[2][5])
  end)
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(out, k:special "tid.x"), sum)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
