-- WG-PERF-07, broken: waits for what has been waited for: of wgmma, of cp.async, of an mbarrier, of lanes, of the cluster; and a fence for an
-- mbarrier at which neither other CTAs nor copies arrive.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K" }

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  local X, Y = k:param("X", "const f32*"), k:param("Y", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 128)
    k:fence_mbarrier_init() -- EXPECT PERF: WG-PERF-07
  end)
  k:bar_sync(0)
  for _, buffer in ipairs { a, b } do
    k:cp_async_cg(k:mad_lo_u32(thread, 16, k:mov(buffer, { type = "u32" })), k:element(X, thread * 4))
    k:cp_async_commit_group()
  end
  k:cp_async_wait_group(1) -- EXPECT PERF: WG-PERF-07
  k:cp_async_wait_group(0)
  k:fence_proxy_async()
  k:mbarrier_arrive(full)
  k:mbarrier_wait(full, 0)
  k:mbarrier_wait(full, 0) -- EXPECT PERF: WG-PERF-07
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:wgmma_fence() -- EXPECT PERF: WG-PERF-07
  k:bar_warp_sync() -- EXPECT PERF: WG-PERF-07
  k:st_global_f32(k:element(Y, k:special "ctaid.x" * 128 + thread), acc[0])
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait() -- EXPECT PERF: WG-PERF-07
end)
kernel:run { grid = { 2 }, args = { wg.ones("f32", { 1024 }), wg.zeros("f32", { 256 }) } }
