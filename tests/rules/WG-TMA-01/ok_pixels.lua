-- WG-TMA-01, kept: a copy of pixels through a tensor map that describes pixels, and its bytes are expected.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 8, 16 }, lower = { -1, -1 }, upper = { 0, 0 } })
  local tile, full = k:shared { bytes = 512, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 512, { guard = first })
  local offset = k:mov(1, { type = "u16" })
  k:cp_async_bulk_tensor_im2col_4d(tile, map, { zero, zero, zero, zero }, full, { offset, offset }, { guard = first })
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 2, 5, 6, 8 }) } }
