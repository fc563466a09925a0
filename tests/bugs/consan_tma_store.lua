-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_tma_store, test_tma_store_convert_layout_scratch. The source of a TMA store is overwritten while it may still be
-- read: the wait leaves too many groups, or another thread than the issuer waits.
-- bad: one_too_many other_thread no_barrier
-- good: waited
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("store", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local thread, zero, words = k:special "tid.x", k:mov(0, { type = "s32" }), kit.words(k)
  local first = thread:eq(0)
  k:st_shared_v4_b32(kit.mine(k, tile), words)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile, { guard = first }) -- MAYBE(no_barrier): WG-RACE-01
  k:cp_async_bulk_commit_group { guard = first }
  k:cp_async_bulk_wait_group(kit.is "one_too_many" and 1 or 0, { read = true, guard = kit.is "other_thread" and thread:eq(32) or first })
  if not kit.is "no_barrier" then k:bar_sync(0) end
  k:st_shared_v4_b32(kit.mine(k, tile), words) -- EXPECT: WG-RACE-03
  k:cp_async_bulk_wait_group(0, { guard = first })
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
