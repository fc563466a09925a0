-- WG-PROXY-03, broken: a launch has changed the tensor map in memory, and a thread of another one copies through it without
-- acquiring it.
-- No call mends it: the fence names the map.
local wg = require "wgrun"

local changes = wg.kernel("changes", { threads = 32 }, function(k)
  local map, maps = k:tensor_map("X", { dtype = "u32", box = { 32, 1 } }), k:param("maps", "u8*")
  local thread = k:special "tid.x"
  k:if_(thread:lt(8), function()
    local at = k:cvt_u64_u32(thread * 16)
    k:st_global_v4_b32(maps + at, k:ld_v4_b32(map + at))
  end)
  k:bar_warp_sync()
  k:tensormap_replace_global_dim_global(maps, 1, 1, { guard = thread:eq(0) })
  k:fence_proxy_tensormap_release { guard = thread:eq(0) }
end)
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, maps = k:param("X", "u32*"), k:param("maps", "u8*")
  local tile, full = k:shared { bytes = 128, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 128, { guard = first })
  k:cp_async_bulk_tensor_2d(tile, maps, { zero, zero }, full, { guard = first }) -- EXPECT IN RUN: WG-PROXY-03
  k:mbarrier_wait(full, 0)
  k:st_global_u32(k:element(X, thread), k:ld_shared_u32(k:address(tile, thread * 4)))
end)
local X, maps = wg.zeros("u32", { 8, 32 }), wg.zeros("u8", 128)
changes:run { grid = { 1 }, args = { X, maps } }
kernel:run { grid = { 1 }, args = { X, maps } }
