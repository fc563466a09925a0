-- WG-FORM-04, broken: A grid has 1 to 2147483647 CTAs along x and 1 to 65535 along y and z, and is made of whole clusters.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  local rank = k:special "cluster_ctarank"
end)
kernel:run { grid = { 3 }, args = {} } -- EXPECT: WG-FORM-04 -- EXPECT IN RUN: WG-FORM-04
