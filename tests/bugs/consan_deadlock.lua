-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_deadlock_two_partitions, _after_other_partition_returns, _user_cluster_barrier_inside_warp_specialize,
-- _overarrival, _underarrival; and what is none: test_deadlock_different_phases, test_deadlock_exempt_when_tma_signals,
-- test_cluster_barrier_warp_specialized_phase_snapshot.
-- bad: cross returned cluster overarrival underarrival named
-- good: phases tma snapshot
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("deadlock", { threads = 64, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local one, two = kit.mbarriers(k, kit.is "overarrival" and { 16, 32 } or { kit.is "underarrival" and 48 or 32, 32 })
  local warp, zero = k:special "tid.x" >> 5, k:mov(0, { type = "s32" })
  local first = k:special("laneid"):eq(0)
  local at_one, at_two = k:address(one), k:address(two)
  k:if_(warp:eq(0), function()
    if kit.is "cross" then
      k:mbarrier_wait(at_one, 0) -- MAYBE(cross): WG-MBAR-05
      k:mbarrier_arrive(two)
    elseif kit.is("overarrival", "underarrival") then
      k:mbarrier_arrive(one) -- EXPECT(overarrival): WG-MBAR-03
    elseif kit.is "phases" then
      k:mbarrier_arrive(one)
      k:mbarrier_wait(at_two, 0)
      k:mbarrier_arrive(one)
    elseif kit.is "tma" then
      k:mbarrier_arrive(two)
      k:if_(first, function()
        k:mbarrier_expect_tx(one, 512)
        k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, one)
      end)
      k:mbarrier_arrive(one)
      k:mbarrier_wait(at_one, 0)
    elseif kit.is("cluster", "snapshot") then
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait() -- MAYBE(cluster): WG-SYNC-04
      if kit.is "snapshot" then k:mbarrier_arrive(one) end
    elseif kit.is "named" then
      k:bar_sync(1, { threads = 64 }) -- MAYBE(named): WG-SYNC-02
    end
  end, function()
    if kit.is "cross" then
      k:mbarrier_wait(at_two, 0) -- MAYBE(cross): WG-MBAR-05
      k:mbarrier_arrive(one)
    elseif kit.is("returned", "underarrival") then
      k:mbarrier_wait(at_one, 0) -- EXPECT(returned underarrival): WG-MBAR-05
    elseif kit.is "phases" then
      k:mbarrier_wait(at_one, 0)
      k:mbarrier_arrive(two)
      k:mbarrier_wait(at_one, 1)
    elseif kit.is "tma" then
      k:mbarrier_wait(at_two, 0)
      k:mbarrier_wait(at_one, 0)
    elseif kit.is "cluster" then
      -- Comes to the barrier of the cluster after what only follows it.
      k:mbarrier_wait(at_one, 0) -- MAYBE(cluster): WG-MBAR-05
      k:barrier_cluster_arrive()
      k:barrier_cluster_wait()
    elseif kit.is "snapshot" then
      k:barrier_cluster_arrive()
      k:mbarrier_wait(at_two, 1)
      k:barrier_cluster_wait()
      k:mbarrier_wait(at_one, 0)
    elseif kit.is "named" then
      k:bar_sync(2, { threads = 64 }) -- MAYBE(named): WG-SYNC-02
    end
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 4, 32 }) } }
