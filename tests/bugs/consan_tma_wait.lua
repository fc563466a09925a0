-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_async_tma_kernel, _2bufs_1bar, test_tma_interleave_kernel, test_tma_wait_tracks_only_waited_barrier,
-- _only_requested_phase, test_tma_wait_does_not_publish_overwritten_row. What TMA brings is read before the wait, after
-- the wait for another mbarrier, or for another phase.
-- bad: none other two_on_one old_phase overwritten
-- good: waited waited_two waited_latest
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("wait", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local one, two = k:shared { bytes = 2048, align = 128, name = "one" }, k:shared { bytes = 2048, align = 128, name = "two" }
  local bar1, bar2 = kit.mbarriers(k, { 1, 1 })
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local function load(tile, barrier, bytes)
    if bytes ~= 0 then k:mbarrier_arrive_expect_tx(barrier, bytes or 2048, { guard = first }) end
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, barrier, { guard = first }) -- MAYBE: WG-RACE-01
  end
  local function read(tile) k:ld_shared_b32(kit.mine(k, tile)) end -- EXPECT(none other two_on_one overwritten): WG-TMA-02 -- MAYBE: WG-MEM-04
  if kit.is("none", "waited") then
    load(one, bar1)
    if kit.is "waited" then k:mbarrier_wait(bar1, 0) end
    read(one)
    k:mbarrier_wait(bar1, 0)
  elseif kit.is("other", "two_on_one", "waited_two") then
    load(one, bar1, kit.is "two_on_one" and 4096 or 2048)
    if kit.is "two_on_one" then load(two, bar1, 0) else load(two, bar2) end
    if not kit.is "two_on_one" then k:mbarrier_wait(bar1, 0) end
    if kit.is "waited_two" then k:mbarrier_wait(bar2, 0) end
    read(two)
    k:mbarrier_wait(bar1, 0)
    if not kit.is "two_on_one" then k:mbarrier_wait(bar2, 0) end
  elseif kit.is "old_phase" then
    load(one, bar1)
    k:mbarrier_wait(bar1, 0)
    load(two, bar1)
    k:mbarrier_wait(bar1, 0) -- EXPECT(old_phase): WG-MBAR-06
    read(two)
    k:mbarrier_wait(bar1, 1)
  else
    -- A second load overwrites what the first has brought; each has its mbarrier.
    load(one, bar1)
    k:mbarrier_wait(bar1, 0)
    k:bar_sync(0)
    load(one, bar2)
    if kit.is "waited_latest" then k:mbarrier_wait(bar2, 0) end
    k:mbarrier_wait(bar1, 0)
    read(one)
    k:mbarrier_wait(bar2, 0)
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
