-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_aliasing_shared_visibility_outstanding_write, test_aliasing_commit_tracking,
-- test_aliasing_tma_overwrite_clears_stale_write_visibility. Views of one buffer that overlap race, those that do not
-- are left alone.
-- bad: overlap store_overlap
-- good: overlap_barrier disjoint store_disjoint tma_overwrites
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("views", { threads = 256 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local memory = k:shared { bytes = 8192, align = 128, name = "memory" }
  local full = kit.mbarriers(k, { 1 })
  local thread, zero, words = k:special "tid.x", k:mov(0, { type = "s32" }), kit.words(k)
  local lane, first = thread & 127, (thread & 127):eq(0)
  local function view(offset) return k:mad_lo_u32(lane, 16, k:address(memory, offset)) end
  if kit.is "tma_overwrites" then
    -- One warpgroup's writes are overwritten by TMA: whoever waits for that has nothing to do with them.
    k:if_(thread:lt(128), function()
      k:st_shared_v4_b32(view(0), words)
      k:fence_proxy_async()
      k:bar_sync(1, { threads = 128 })
      k:if_(thread:eq(0), function()
        k:mbarrier_arrive_expect_tx(full, 2048)
        k:cp_async_bulk_tensor_2d(memory, map, { zero, zero }, full)
      end)
    end)
    k:mbarrier_wait(full, 0)
    k:ld_shared_b32(view(0))
    return
  end
  local other = kit.is("overlap", "overlap_barrier") and 1024 or kit.is "store_overlap" and 128 or 2048
  k:if_(thread:lt(128), function()
    k:st_shared_v4_b32(view(0), words) -- MAYBE(overlap): WG-RACE-01
    if kit.is("store_overlap", "store_disjoint") then
      k:fence_proxy_async()
      k:bar_sync(1, { threads = 128 })
      k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, memory, { guard = first }) -- MAYBE(store_overlap): WG-RACE-01
      k:cp_async_bulk_commit_group { guard = first }
      k:bar_sync(2, { threads = 256 })
      k:cp_async_bulk_wait_group(0, { guard = first })
    end
    if kit.is "overlap_barrier" then k:bar_sync(2, { threads = 256 }) end
  end, function()
    if kit.is("overlap_barrier", "store_overlap", "store_disjoint") then k:bar_sync(2, { threads = 256 }) end
    k:st_shared_v4_b32(view(other), words) -- MAYBE(overlap): WG-RACE-01 -- EXPECT(store_overlap): WG-RACE-03
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
