-- WG-RACE-04, broken: the tensor map is changed while a copy through it may still read it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local map, maps, X = k:tensor_map("M", { dtype = "f32", box = { 32, 1 } }), k:param("maps", "u8*"), k:param("X", "f32*")
  local own, tile = k:shared { bytes = 128, align = 128, name = "own" }, k:shared { bytes = 128, align = 128, name = "tile" }
  local full, ready = k:shared { bytes = 8, align = 8, name = "full" }, k:shared { bytes = 8, align = 8, name = "ready" }
  local issued = k:shared { bytes = 8, align = 8, name = "issued" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:mbarrier_init(ready, 32)
    k:mbarrier_init(issued, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:if_(thread:lt(32), function()
    k:if_(thread:lt(8), function() k:st_shared_v4_b32(k:address(own, thread * 16), k:ld_v4_b32(map + k:cvt_u64_u32(thread * 16))) end)
    k:bar_warp_sync()
    k:tensormap_cp_fenceproxy(maps, own)
    k:mbarrier_arrive(ready)
    k:mbarrier_wait(issued, 0)
    k:tensormap_replace_global_address_shared_cta(own, k:element(X, 32), { guard = thread:eq(0) })
    k:bar_warp_sync()
    k:tensormap_cp_fenceproxy(maps, own) -- EXPECT IN RUN: WG-RACE-04
  end, function()
    k:mbarrier_wait(ready, 0)
    k:fence_proxy_tensormap_acquire(maps)
    k:if_(thread:eq(32), function()
      k:mbarrier_arrive_expect_tx(full, 128)
      k:cp_async_bulk_tensor_2d(tile, maps, { zero, zero }, full)
      k:mbarrier_arrive(issued)
      k:mbarrier_wait(full, 0)
    end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 1, 32 }), wg.zeros("u8", 128), wg.ones("f32", 64) } }
