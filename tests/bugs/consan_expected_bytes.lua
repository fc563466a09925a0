-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_async_tma_expect_bytes_mismatch. expect_tx of 16 bytes too few or too many.
-- bad: under over
-- good: match
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("bytes", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local full = kit.mbarriers(k, { 1 })
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:mbarrier_arrive_expect_tx(full, kit.is "under" and 2032 or kit.is "over" and 2064 or 2048, { guard = first }) -- MAYBE(under): WG-MBAR-03
  k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, full, { guard = first }) -- MAYBE(under): WG-MBAR-03
  k:mbarrier_wait(full, 0) -- EXPECT: WG-MBAR-05
  k:ld_shared_b32(kit.mine(k, tile))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
