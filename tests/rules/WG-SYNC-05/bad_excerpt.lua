-- WG-SYNC-05, broken: Another CTA's shared memory is accessed through shared::cluster, at an address of mapa with a rank of the cluster, while that CTA runs.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  local S = k:shared { bytes = 512, name = "S" }
  local mine = k:mad_lo_u32(k:special "tid.x", 4, k:mov(S, {type="u32"}))
  k:st_shared_u32(mine, 1)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  local theirs = k:mapa(mine, k:special "cluster_ctarank" ~ 1)
  local x = k:ld_u32(theirs, {space="shared::cluster"}) -- EXPECT: WG-SYNC-05
end)
kernel:run { grid = { 2 }, args = {} }
