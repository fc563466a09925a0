-- https://docs.nvidia.com/cuda/parallel-thread-execution/index.html#parallel-synchronization-and-communication-instructions-mbarrier-arrive:
-- an arrival at the mbarrier of another CTA that says .release.cta orders nothing for the threads of that CTA.
-- bad: cta
-- good: plain cluster
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("arrival", { threads = 32, cluster = { 2 } }, function(k)
  local Y = k:param("Y", "u32*")
  local data = k:shared { bytes = 128, align = 16, name = "data" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  meet()
  k:if_((rank | thread):eq(0), function()
    k:st_u32(k:mapa(k:address(data), 1), 7, { space = "shared::cluster" })
    local sem = kit.is "cta" and "release.cta" or kit.is "cluster" and "release.cluster" or nil
    k:mbarrier_arrive(k:mapa(k:address(full), 1), { space = "shared::cluster", sem = sem })
  end)
  k:if_(rank:eq(1), function()
    k:mbarrier_wait(full, 0)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:address(data))) -- EXPECT: WG-RACE-01
  end)
  meet()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 32 }) } }
