-- WG-PROXY-03, kept: the thread that releases fences for all, behind the barrier.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, flag, Y = k:param("X", "u32*"), k:param("flag", "u32*"), k:param("Y", "u32*")
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local data = k:shared { bytes = 256, align = 128, name = "data" }
  local thread = k:special "tid.x"
  local first = thread:eq(0)
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:if_(k:special "ctaid.x":eq(0), function()
    k:st_global_u32(k:element(X, thread), thread)
    k:bar_sync(0)
    k:fence_proxy_async { guard = first }
    k:st_release_gpu_global_u32(k:element(flag, 0), 1, { guard = first })
  end, function()
    k:if_(first, function()
      k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(flag, 0)):ne(1) end, function() end)
      k:mbarrier_arrive_expect_tx(full, 256)
      k:cp_async_bulk(data, k:element(X, 0), 256, full)
    end)
    k:mbarrier_wait(full, 0)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:address(data, thread * 4)))
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 64 }), wg.zeros("u32", { 1 }), wg.zeros("u32", { 64 }) } }
