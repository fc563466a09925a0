-- WG-PERF-10, kept: the CTA's threads wait for its own mbarrier, and those of another CTA for one that mapa gives.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32, cluster = 2 }, function(k)
  local Y, thread, cta = k:param("Y", "f32*"), k:special "tid.x", k:special "cluster_ctarank"
  local values = k:shared { bytes = 128, align = 16, name = "values" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 64)
  end)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:st_shared_f32(k:address(values, thread * 4), k:cvt_rn_f32_u32(thread))
  k:mbarrier_arrive(full) -- PERF
  k:mbarrier_arrive(k:mapa_shared_cluster_u32(k:address(full), cta ~ 1), { space = "shared::cluster", sem = "release.cluster" })
  k:mbarrier_wait(full, 0)
  k:st_global_f32(k:element(Y, cta * 32 + thread), k:ld_shared_f32(k:address(values, (thread ~ 1) * 4)))
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 64 }) } }
