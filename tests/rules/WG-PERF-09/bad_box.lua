-- WG-PERF-09, broken by boxes that are 16 bytes wide.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, first, zero = k:tensor_map("X", { dtype = "bf16", box = { 8, 64 } }), k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local tile, full = k:shared { bytes = 1024, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 1024, { guard = first })
  k:cp_async_bulk_tensor_2d(tile, X, { zero, zero }, full, { guard = first }) -- EXPECT PERF: WG-PERF-09
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 64 }) } }
