-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_tma_overlapping_operations. A TMA load into, or a TMA store from, a tile that another load is still filling.
-- bad: load store
-- good: load_waited store_waited
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("overlap", { threads = 128 }, function(k)
  local from = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local to = k:tensor_map("Y", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local bar1, bar2 = kit.mbarriers(k, { 1, 1 })
  local zero = k:mov(0, { type = "s32" })
  k:if_(k:special("tid.x"):eq(0), function()
    k:mbarrier_arrive_expect_tx(bar1, 2048)
    k:cp_async_bulk_tensor_2d(tile, from, { zero, zero }, bar1)
    if kit.is("load_waited", "store_waited") then k:mbarrier_wait(bar1, 0) end
    if kit.is("load", "load_waited") then
      k:mbarrier_arrive_expect_tx(bar2, 2048)
      k:cp_async_bulk_tensor_2d(tile, from, { zero, zero }, bar2) -- EXPECT(load): WG-TMA-02
      k:mbarrier_wait(bar2, 0)
    else
      k:cp_async_bulk_tensor_store_2d(to, { zero, zero }, tile) -- EXPECT(store): WG-TMA-02
      k:cp_async_bulk_commit_group()
      k:cp_async_bulk_wait_group(0)
    end
    k:mbarrier_wait(bar1, 0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }), wg.zeros("f32", { 16, 32 }) } }
