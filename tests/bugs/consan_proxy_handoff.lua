-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_fence_async_shared_across_warp_specialize, test_ws_join_publishes_to_async_peer,
-- test_ws_join_publishes_proxy_generation. One warpgroup writes, another one's TMA reads: the fence stands before the
-- arrival, or after the wait for it, and after all that was written.
-- bad: none producer_after_arrive producer_after_arrive_barrier stale
-- good: producer consumer consumer_all join
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("handoff", { threads = 256 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local ready = kit.mbarriers(k, { 128 })
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local function fence(...) if kit.is(...) then k:fence_proxy_async() end end
  k:if_((thread >> 7):eq(0), function()
    if kit.is "stale" then fence "stale" end
    k:st_shared_v4_b32(kit.mine(k, tile), kit.words(k))
    fence("producer", "join")
    k:mbarrier_arrive(ready)
    fence("producer_after_arrive", "producer_after_arrive_barrier")
    if kit.is "producer_after_arrive_barrier" then k:bar_sync(1, { threads = 128 }) end
    if kit.is "join" then k:bar_sync(2, { threads = 256 }) end
  end, function()
    if kit.is "join" then k:bar_sync(2, { threads = 256 }) else k:mbarrier_wait(k:address(ready), 0) end
    fence "consumer_all"
    k:if_(thread:eq(128), function()
      fence "consumer"
      k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile) -- EXPECT: WG-PROXY-01
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
