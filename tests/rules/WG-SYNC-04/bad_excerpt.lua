-- WG-SYNC-04, broken: Each warp arrives at the barrier of the cluster and waits for it in turn.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  -- cluster = 2
  k:barrier_cluster_arrive()
  k:barrier_cluster_arrive() -- EXPECT: WG-SYNC-04
  k:barrier_cluster_wait()
  k:barrier_cluster_wait() -- EXPECT: WG-SYNC-04
end)
kernel:run { grid = { 2 }, args = {} }
