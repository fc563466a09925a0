-- https://github.com/HazyResearch/ThunderKittens/issues/194: wait_group.read stands before the signal that tells another
-- that a TMA store is there. It says only that shared memory has been read. Here the others are the CTA's own threads.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("signal", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local X = k:param("pointer", "f32*")
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local ready = kit.mbarriers(k, { 1 })
  local zero = k:mov(0, { type = "s32" })
  k:st_shared_v4_b32(kit.mine(k, tile), kit.words(k))
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(k:special("tid.x"):eq(0), function()
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile) -- MAYBE: WG-RACE-04
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0, { read = kit.is "bug" })
    k:mbarrier_arrive(ready)
  end)
  k:mbarrier_wait(ready, 0)
  k:ld_global_f32(k:element(X, k:special "tid.x")) -- EXPECT: WG-RACE-04
end)
local X = wg.zeros("f32", { 16, 32 })
kernel:run { grid = { 1 }, args = { X, X } }
