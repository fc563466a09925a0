-- WG-TMA-06, broken: where the box starts is data of the launch.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("scales", { dtype = "f32", box = { 32 }, constant = true })
  local rows = k:param("rows", "const s32*")
  local tile = k:shared { bytes = 128, align = 128, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(k:special("tid.x"):eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    local row = k:ld_global_s32(k:element(rows, k:special "ctaid.x"))
    k:mbarrier_arrive_expect_tx(full, 128)
    k:cp_async_bulk_tensor_1d(tile, map, { row }, full) -- EXPECT IN RUN: WG-TMA-06
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
end)
local rows = wg.zeros("s32", { 2 })
rows[{ 1 }] = 7
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 64 }), rows } }
