-- WG-SYNC-05, broken: a CTA stores to another one that may not have begun. Nothing races: the other does not access the place
-- before the barrier.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32, cluster = { 2 } }, function(k)
  local Y, slot = k:param("Y", "u32*"), k:shared { bytes = 128, align = 16, name = "slot" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  local mine = k:address(slot, thread * 4)
  k:st_u32(k:mapa(mine, rank ~ 1), rank, { space = "shared::cluster" }) -- EXPECT: WG-SYNC-05
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:st_global_u32(k:element(Y, rank * 32 + thread), k:ld_shared_u32(mine))
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 64) } }
