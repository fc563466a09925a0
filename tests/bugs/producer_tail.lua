-- https://github.com/NVIDIA/cutlass/blob/main/include/cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp, load_tail:
-- a CTA of the cluster may end without a last barrier of the cluster, if it has waited until all that others do to its
-- memory is complete: the phases of its own full mbarriers, whose bytes they multicast, and the last arrivals at its empty
-- ones. One that waits for less may be gone when an arrival comes.
-- bad: none one_less
-- good: tail barrier
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")
local stages, turns = 2, 5

local kernel = wg.kernel("tail", { threads = 64, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 8 } })
  local Y = k:param("Y", "f32*")
  local tiles, fulls, empties = {}, {}, {}
  for s = 1, stages do
    tiles[s] = k:shared { bytes = 2048, align = 128, name = "tile" .. s }
    fulls[s] = k:shared { bytes = 8, align = 8, name = "full" .. s }
    empties[s] = k:shared { bytes = 8, align = 8, name = "empty" .. s }
  end
  local thread, rank, zero = k:special "tid.x", k:special "cluster_ctarank", k:mov(0, { type = "s32" })
  local lane = thread & 31
  k:if_(thread:eq(0), function()
    for s = 1, stages do
      k:mbarrier_init(fulls[s], 1)
      k:mbarrier_init(empties[s], 2)
    end
    k:fence_mbarrier_init()
  end)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:if_(thread:eq(0), function()
    -- Each CTA loads its half of a tile for both.
    for i = 0, turns - 1 do
      local s = i % stages + 1
      k:mbarrier_wait(empties[s], i // stages & 1 ~ 1)
      k:mbarrier_arrive_expect_tx(fulls[s], 2048)
      k:cp_async_bulk_tensor_2d(k:address(tiles[s]) + (rank << 10), map, { zero, k:mul_lo_s32(rank, 8) }, fulls[s], { mask = 3 })
    end
    local waits = kit.is "tail" and stages or kit.is "one_less" and stages - 1 or 0
    for i = turns, turns + waits - 1 do k:mbarrier_wait(empties[i % stages + 1], i // stages & 1 ~ 1) end
  end)
  k:if_((thread >> 5):eq(1), function()
    local sum = k:mov(0, { type = "f32" })
    for i = 0, turns - 1 do
      local s = i % stages + 1
      k:mbarrier_wait(fulls[s], i // stages & 1)
      k:add(sum, sum, k:ld_shared_f32(k:mad_lo_u32(lane, 4, k:address(tiles[s]))))
      k:fence_proxy_async()
      k:bar_warp_sync()
      -- Lanes 0 and 1 release the stage in CTA 0 and 1.
      k:if_(lane:lt(2), function()
        k:mbarrier_arrive(k:mapa(k:address(empties[s]), lane), { space = "shared::cluster" }) -- EXPECT: WG-SYNC-05
      end)
    end
    k:st_global_f32(k:element(Y, rank * 32 + lane), sum)
  end)
  if kit.is "barrier" then
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 16, 32 }), wg.zeros("f32", { 64 }) } }
