-- CTAs of a cluster that fill, release and read each other's shared memory, and end together.
-- good: multicast remote_release relaxed_begin arrive_early
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("cluster", { threads = 64, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 8 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local empty = k:shared { bytes = 8, align = 8, name = "empty" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  local first = thread:eq(0)
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:mbarrier_init(empty, 2)
    k:fence_mbarrier_init()
  end)
  k:barrier_cluster_arrive(kit.is "relaxed_begin" and { sem = "relaxed" } or {})
  k:barrier_cluster_wait()
  local half = k:mul_lo_s32(rank, 8)
  local sum = k:mov(0, { type = "f32" })
  for round = 0, 2 do
    k:if_(first, function()
      -- Each CTA loads its half for both, once both have released it.
      k:mbarrier_wait(k:address(empty), (round & 1) ~ 1)
      k:mbarrier_arrive_expect_tx(full, 2048)
      k:cp_async_bulk_tensor_2d(k:address(tile) + (rank << 10), map, { k:mov(0, { type = "s32" }), half }, full, { mask = 3 })
    end)
    k:mbarrier_wait(full, round & 1)
    k:add(sum, sum, k:ld_shared_f32(k:address(tile) + (thread << 2)))
    k:fence_proxy_async()
    k:bar_sync(0)
    k:if_(thread:lt(2), function() k:mbarrier_arrive(k:mapa(k:address(empty), thread), { space = "shared::cluster" }) end)
  end
  k:barrier_cluster_arrive()
  if kit.is "arrive_early" then k:st_global_f32(k:element(k:param("D", "f32*"), k:mad_lo_u32(k:special "ctaid.x", 64, thread)), sum) end
  k:barrier_cluster_wait()
end)
local args = { wg.zeros("f32", { 16, 32 }) }
if kit.is "arrive_early" then args[2] = wg.zeros("f32", { 256 }) end
kernel:run { grid = { 4 }, args = args }
