-- WG-MEM-04, broken: a copy to another CTA takes rows with padding that nothing has written, and it is read there.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32, cluster = 2 }, function(k)
  local Y, thread = k:param("Y", "f32*"), k:special "tid.x"
  local a, b = k:shared { bytes = 256, align = 16, name = "a" }, k:shared { bytes = 256, align = 16, name = "b" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local mine = (thread >> 2) * 32 + (thread & 3) * 4
  k:st_shared_f32(k:address(a, mine), 1.0)
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 256)
  end)
  k:fence_proxy_async()
  k:barrier_cluster_arrive_release()
  k:barrier_cluster_wait()
  local peer = k:special "cluster_ctarank" ~ 1
  k:if_(thread:eq(0), function() k:cp_async_bulk_cluster(k:mapa_u32(k:address(b), peer), a, 256, k:mapa_u32(k:address(full), peer)) end)
  k:mbarrier_wait(k:address(full), 0)
  k:st_global_f32(k:element(Y, k:special "ctaid.x" * 32 + thread), k:ld_shared_f32(k:address(b, mine + 16))) -- EXPECT: WG-MEM-04 -- EXPECT IN RUN: WG-MEM-04
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end)
kernel:run { grid = 2, args = { wg.zeros("f32", { 64 }) } }
