-- WG-SYNC-05, kept: that the other CTA has begun is known by a barrier of the cluster whose arrivals release nothing, or by what
-- the other has released in global memory.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32, cluster = { 2 } }, function(k)
  local Y, flags = k:param("Y", "u32*"), k:param("flags", "u32*")
  local slot = k:shared { bytes = 128, align = 16, name = "slot" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  local mine = k:address(slot, thread * 4)
  k:if_(thread:eq(0), function() k:st_release_cluster_global_u32(k:element(flags, rank), 1) end)
  k:while_(function() return k:ld_acquire_cluster_global_u32(k:element(flags, rank ~ 1)):ne(1) end, function() end)
  k:st_u32(k:mapa(mine, rank ~ 1), rank, { space = "shared::cluster" })
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:st_global_u32(k:element(Y, rank * 32 + thread), k:ld_shared_u32(mine))
end)
local relaxed = wg.kernel("relaxed", { threads = 32, cluster = { 2 } }, function(k)
  local slot = k:shared { bytes = 128, align = 16, name = "slot" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  k:barrier_cluster_arrive { sem = "relaxed" }
  k:barrier_cluster_wait()
  k:st_u32(k:mapa(k:address(slot, thread * 4), rank ~ 1), rank, { space = "shared::cluster" })
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 64), wg.zeros("u32", 2) } }
relaxed:run { grid = { 2 }, args = {} }
