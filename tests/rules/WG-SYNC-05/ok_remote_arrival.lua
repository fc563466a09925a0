-- WG-SYNC-05, kept: each CTA waits for the arrival of its peer before it ends.
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
  k:mbarrier_arrive(theirs, { space = "shared::cluster", guard = first })
  k:mbarrier_wait(ready, 0)
end)
kernel:run { grid = { 4 }, args = {} }
