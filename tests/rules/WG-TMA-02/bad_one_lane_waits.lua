-- WG-TMA-02, broken: one lane waits for the copy, and the others of its warp read as well.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map, X = k:tensor_map("map", { dtype = "f32", box = { 32 } }), k:param("X", "f32*")
  local tile, full = k:shared { bytes = 128, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  local lane, zero = k:special "laneid", k:mov(0, { type = "s32" })
  k:if_(lane:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128)
    k:cp_async_bulk_tensor_1d(tile, map, { zero }, full)
    k:mbarrier_wait(full, 0)
  end)
  local x = k:ld_shared_f32(k:mad_lo_u32(lane, 4, k:mov(tile, { type = "u32" }))) -- EXPECT IN RUN: WG-TMA-02 -- EXPECT: WG-TMA-02
  k:st_global_f32(k:element(X, lane), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }), wg.zeros("f32", { 32 }) } }
