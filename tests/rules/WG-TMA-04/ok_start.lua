-- WG-TMA-04, kept: the tensor is a view that begins at a multiple of 16 bytes.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map, D = k:tensor_map("X", { dtype = "f32", box = { 32, 1 } }), k:param("D", "f32*")
  local s, full = k:shared { bytes = 128, align = 128, name = "s" }, k:shared { bytes = 8, align = 8, name = "full" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128)
    k:cp_async_bulk_tensor_2d(s, map, { zero, zero }, full)
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
  k:st_global_f32(k:element(D, thread), k:ld_shared_f32(k:address(s, thread * 4)))
end)
kernel:run { grid = { 1 }, args = { wg.arange("f32", 129):rows(32, 128):reshape { 3, 32 }, wg.zeros("f32", { 32 }) } }
