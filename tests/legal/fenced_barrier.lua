-- The barrier of a cluster, of which only the fences before it order memory (PTX ISA 9.7.13.4).
-- good: fenced
local wg = require "wgrun"

local kernel = wg.kernel("fenced", { threads = 32, cluster = 2 }, function(k)
  local Y = k:param("Y", "u32*")
  local S = k:shared { bytes = 128, align = 16, name = "S" }
  local lane, rank = k:special "laneid", k:special "cluster_ctarank"
  local own = k:mad_lo_u32(lane, 4, k:mov(S, { type = "u32" }))
  k:st_shared_u32(own, lane)
  k:fence_acq_rel_cluster()
  k:barrier_cluster_arrive_relaxed()
  k:barrier_cluster_wait()
  k:st_global_u32(k:element(Y, rank * 32 + lane), k:ld_shared_cluster_u32(k:mapa_u32(own, rank ~ 1)))
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 64) } }
