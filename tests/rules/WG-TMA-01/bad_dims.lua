-- WG-TMA-01, broken: a copy in two dimensions, a tensor map of three.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4, 1 } })
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 512)
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full) -- EXPECT: WG-TMA-01
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 2, 4, 32 }) } }
