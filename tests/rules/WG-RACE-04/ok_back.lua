-- WG-RACE-04, kept: what a warp releases another one of its CTA acquires by way of another CTA; in a bulk copy, too.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, F, Y = k:param("X", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*")
  local from, to = k:shared { bytes = 16, align = 16, name = "from" }, k:shared { bytes = 16, align = 16, name = "to" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local tid, cta = k:special "tid.x", k:special "ctaid.x"
  local function wait(flag) k:while_(function() return k:ld_acquire_gpu_global_u32(flag):eq(0) end, function() end) end
  k:if_(tid:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    for i = 0, 3 do k:st_shared_u32(k:address(from, 4 * i), 7) end
    k:fence_proxy_async { space = "shared::cta" }
  end)
  k:bar_sync(0)
  k:if_(cta:eq(1) & tid:eq(0), function()
    wait(F)
    k:st_release_gpu_global_u32(k:element(F, 1), 1)
  end)
  k:if_(cta:eq(0) & tid:eq(0), function()
    k:st_global_u32(k:element(X, 4), 8)
    k:cp_async_bulk_store(X, from, 16)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
    k:st_release_gpu_global_u32(F, 1)
  end)
  k:if_(cta:eq(0) & tid:eq(32), function()
    wait(k:element(F, 1))
    k:fence_proxy_async()
    k:mbarrier_arrive_expect_tx(full, 16)
    k:cp_async_bulk(to, X, 16, full)
    k:mbarrier_wait(full, 0)
    k:st_global_u32(Y, k:ld_shared_u32(to) + k:ld_global_u32(k:element(X, 4)))
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 8), wg.zeros("u32", 2), wg.zeros("u32", 1) } }
