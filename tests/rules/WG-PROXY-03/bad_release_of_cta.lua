-- WG-PROXY-03, broken: the map is released to the threads of its CTA alone, and another CTA acquires it.
-- No call mends it: the scope is to be wider.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64, cluster = 2 }, function(k)
  local map, maps = k:tensor_map("X", { dtype = "u32", box = { 32, 1 } }), k:param("maps", "u8*")
  local own, full = k:shared { bytes = 128, align = 128, name = "own" }, k:shared { bytes = 8, align = 8, name = "full" }
  local tile = k:shared { bytes = 128, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local copies = thread:eq(32)
  k:mbarrier_init(full, 1, { guard = copies })
  k:fence_mbarrier_init { guard = copies }
  k:if_((thread >> 5):eq(0) & k:special("cluster_ctarank"):eq(0), function()
    k:if_(thread:lt(8), function() k:st_shared_v4_b32(k:address(own, thread * 16), k:ld_v4_b32(map + k:cvt_u64_u32(thread * 16))) end)
    k:bar_warp_sync()
    k:tensormap_replace_global_dim_shared_cta(own, 1, 1, { guard = thread:eq(0) })
    k:bar_warp_sync()
    k:tensormap_cp_fenceproxy(maps, own, { sem = "release.cta" })
  end)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:fence_proxy_tensormap_acquire(maps, { guard = copies, sem = "acquire.cluster" }) -- EXPECT: WG-PROXY-03
  k:mbarrier_arrive_expect_tx(full, 128, { guard = copies })
  k:cp_async_bulk_tensor_2d(tile, maps, { zero, zero }, full, { guard = copies })
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 8, 32 }), wg.zeros("u8", 128) } }
