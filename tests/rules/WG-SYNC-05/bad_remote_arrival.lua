-- WG-SYNC-05, broken: the arrival at the peer's mbarrier may come after the peer has ended.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  local ready = k:shared { bytes = 8, align = 8, name = "ready" }
  local first = k:special("tid.x"):eq(0)
  k:if_(first, function()
    k:mbarrier_init(ready, 1)
    k:fence_mbarrier_init()
  end)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  local theirs = k:mapa(k:address(ready), k:special "cluster_ctarank" ~ 1)
  k:mbarrier_arrive(theirs, { space = "shared::cluster", guard = first }) -- EXPECT: WG-SYNC-05
end)
kernel:run { grid = { 2 }, args = {} }
