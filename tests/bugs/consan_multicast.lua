-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_async_tma_multicast_kernel, _reuse, _local_store_race. What a peer's multicast writes is read before the wait,
-- written meanwhile, or reused while a CTA of the cluster still reads.
-- bad: read local_store reuse
-- good: waited reuse_handed_over
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("multicast", { threads = 128, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local leads = first & k:special("cluster_ctarank"):eq(0)
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  local fulls = { kit.mbarriers(k, { 1, 1 }) }
  meet()
  for round = 0, kit.is("reuse", "reuse_handed_over") and 1 or 0 do
    local full = fulls[round + 1]
    k:mbarrier_arrive_expect_tx(full, 2048, { guard = first })
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full, { mask = 3, guard = leads }) -- EXPECT(reuse): WG-RACE-01 -- EXPECT(reuse): WG-PROXY-02 -- MAYBE(reuse): WG-TMA-02 -- MAYBE(read local_store): WG-RACE-01
    if kit.is "local_store" then k:st_shared_v4_b32(kit.mine(k, tile), kit.words(k)) end -- EXPECT(local_store): WG-TMA-02
    if not kit.is("read", "local_store") then k:mbarrier_wait(full, 0) end
    if not kit.is "local_store" then k:ld_shared_b32(kit.mine(k, tile)) end -- EXPECT(read): WG-TMA-02 -- MAYBE(reuse): WG-TMA-02 -- MAYBE(read): WG-MEM-04
    if kit.is "reuse_handed_over" then
      k:fence_proxy_async()
      meet()
    end
  end
  if kit.is("read", "local_store") then k:mbarrier_wait(fulls[1], 0) end
  meet()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 16, 32 }) } }
