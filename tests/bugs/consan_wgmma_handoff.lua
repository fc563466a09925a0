-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_ws_wgmma_wait_visibility. wait_group 1, then an arrival that gives back the tile of the wgmma that still runs.
-- bad: newest
-- good: older
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("handoff", { threads = 256 }, function(k)
  local one, two, b = k:shared(kit.tile, "one"), k:shared(kit.tile, "two"), k:shared(kit.tile, "b")
  local empty = kit.mbarriers(k, { 128 })
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function() kit.store(k, { one, two, b }) end)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(group:eq(0), function()
    local acc1, acc2 = k:regs("f32", 32), k:regs("f32", 32)
    kit.multiply(k, acc1, one, b)
    kit.multiply(k, acc2, two, b)
    k:wgmma_wait_group(1)
    k:mbarrier_arrive(empty)
    k:wgmma_wait_group(0)
  end, function()
    local lane = k:special "tid.x" - 128
    k:mbarrier_wait(k:address(empty), 0)
    local at = k:mad_lo_u32(lane, 16, k:mov(kit.is "newest" and two or one, { type = "u32" }))
    local words = kit.words(k)
    for i = 0, 3 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end -- EXPECT: WG-RACE-02
  end)
end)
kernel:run { grid = { 1 }, args = {} }
