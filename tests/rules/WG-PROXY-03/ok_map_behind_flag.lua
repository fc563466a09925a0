-- WG-PROXY-03, kept: the map is acquired behind the flag.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map, maps = k:tensor_map("M", { dtype = "f32", box = { 32, 1 } }), k:param("maps", "u8*")
  local X, D, flag, thread = k:param("X", "const f32*"), k:param("D", "f32*"), k:param("flag", "u32*"), k:special "tid.x"
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local tile, zero = k:shared { bytes = 128, align = 128, name = "tile" }, k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:if_(k:special("ctaid.x"):eq(0), function()
    k:if_(thread:lt(8), function()
      local at = k:cvt_u64_u32(thread * 16)
      k:st_global_v4_b32(maps + at, k:ld_v4_b32(map + at))
    end)
    k:bar_warp_sync()
    k:if_(first, function()
      k:tensormap_replace_global_address_global(maps, X + 128)
      k:fence_proxy_tensormap_release()
      k:st_release_gpu_global_u32(k:element(flag, 0), 1)
    end)
  end, function()
    k:if_(first, function()
      k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(flag, 0)):ne(1) end, function() end)
      k:fence_proxy_tensormap_acquire(maps)
      k:mbarrier_arrive_expect_tx(full, 128)
      k:cp_async_bulk_tensor_2d(tile, maps, { zero, zero }, full)
    end)
    k:mbarrier_wait(full, 0)
    k:st_global_f32(k:element(D, thread), k:ld_shared_f32(k:address(tile, thread * 4)))
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 1, 32 }), wg.zeros("u8", 128), wg.ones("f32", 64), wg.zeros("f32", 32), wg.zeros("u32", 1) } }
