-- WG-TMA-05, broken: the box starts 128 bytes behind a multiple of 1024, and threads take the swizzle from its rows.
local wg = require "wgrun"
local kernel = wg.kernel("swizzled", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 32 }, swizzle = "128B" })
  local D = k:param("D", "f32*")
  local pad = k:shared { bytes = 128, align = 1024, name = "pad" }
  local s = k:shared { bytes = 4096, align = 128, name = "s" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local tid, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:st_shared_u32(k:mov(pad, { type = "u32" }), 1, { guard = tid:eq(0) })
  k:if_(tid:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 4096)
    k:cp_async_bulk_tensor_2d(s, map, { zero, zero }, full) -- EXPECT: WG-TMA-05 -- EXPECT IN RUN: WG-TMA-05
  end)
  k:bar_sync(0)
  k:mbarrier_wait(k:address(full), 0)
  local base = k:mov(s, { type = "u32" })
  local sum = k:mov(0.0, { type = "f32" })
  for j = 0, 7 do
    local at = base + tid * 128 + (((tid & 7) ~ j) << 4)
    k:add(sum, sum, k:ld_shared_f32(at))
  end
  k:st_global_f32(k:element(D, tid), sum)
end)
local X, D = wg.randn { dtype = "f32", shape = { 32, 32 } }, wg.zeros("f32", { 32 })
kernel:run { grid = { 1 }, args = { X, D } }
