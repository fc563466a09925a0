-- https://github.com/tile-ai/tilelang/issues/2630, #2578, #2555: a box wider than the swizzle compiles, and dies at launch
-- with INVALID_VALUE.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("box", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { kit.is "bug" and 64 or 32, 8 }, swizzle = "128B" }) -- EXPECT: WG-TMA-04
  local tile = k:shared { bytes = 1024, align = 1024, name = "tile" }
  local full = kit.mbarriers(k, { 1 })
  local zero = k:mov(0, { type = "s32" })
  k:if_(k:special("tid.x"):eq(0), function()
    k:mbarrier_arrive_expect_tx(full, 1024)
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full)
  end)
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 64 }) } }
