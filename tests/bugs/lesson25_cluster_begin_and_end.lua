-- https://github.com/triton-lang/triton/issues/10656, #11731, https://github.com/NVIDIA/Fuser/issues/1552 and others: a CTA
-- ends while its peer still accesses its memory, and the launch fails; or the inits of mbarriers are not made known to
-- the cluster, and it hangs.
-- bad: exit unknown unfenced
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("cluster", { threads = 128, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    if not kit.is "unfenced" then k:fence_mbarrier_init() end
  end)
  if kit.is "unknown" then k:bar_sync(0) else meet() end
  k:if_(first, function()
    k:mbarrier_arrive_expect_tx(full, 2048)
  end)
  k:if_(first & k:special("cluster_ctarank"):eq(0), function()
    -- For both CTAs.
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full, { mask = 3 }) -- EXPECT(unknown unfenced): WG-MBAR-02
  end)
  k:mbarrier_wait(full, 0)
  meet()
  local peer = k:mapa(k:address(tile), k:special "cluster_ctarank" ~ 1)
  local word = k:ld_u32(peer, { space = "shared::cluster" }) -- EXPECT(exit): WG-SYNC-05
  if not kit.is "exit" then meet() end
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 16, 32 }) } }
