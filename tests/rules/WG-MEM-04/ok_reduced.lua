-- WG-MEM-04, kept: a bulk copy reduces into shared memory of another CTA that has been written, and published to the copy.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32, cluster = { 2 } }, function(k)
  local from, to = k:shared { bytes = 128, align = 128, name = "from" }, k:shared { bytes = 128, align = 128, name = "to" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread, peer = k:special "tid.x", k:special "cluster_ctarank" ~ 1
  local first = thread:eq(0)
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:st_shared_u32(k:address(from, thread * 4), thread)
  k:st_shared_u32(k:address(to, thread * 4), thread)
  k:fence_proxy_async()
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:mbarrier_arrive_expect_tx(full, 128, { guard = first })
  local there = k:mapa(k:mov(to, { type = "u32" }), peer)
  local full_there = k:mapa(k:mov(full, { type = "u32" }), peer)
  k:cp_reduce_async_bulk_cluster_add_u32(there, from, 128, full_there, { guard = first })
  k:mbarrier_wait(full, 0)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end)
kernel:run { grid = { 2 }, args = {} }
