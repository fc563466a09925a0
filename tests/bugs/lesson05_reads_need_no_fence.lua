-- https://github.com/triton-lang/triton/pull/10668, taken back in https://github.com/triton-lang/triton/pull/11852: a
-- generic read and then an async read of the same bytes were flagged. They are harmless: nothing may be found.
-- good: read_read
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("read_read", { threads = 128 }, function(k)
  local from = k:tensor_map("X", { dtype = "bf16", tile = kit.tile })
  local to = k:tensor_map("Y", { dtype = "bf16", tile = kit.tile })
  local tile, b = k:shared(kit.tile, "tile"), k:shared(kit.tile, "b")
  local full = kit.mbarriers(k, { 1 })
  kit.fill(k, { b })
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:mbarrier_arrive_expect_tx(full, kit.tile.bytes, { guard = first })
  k:cp_async_bulk_tensor_2d(tile, from, { zero, zero }, full, { guard = first })
  k:mbarrier_wait(full, 0)
  local words, acc = k:regs("b32", 4), k:regs("f32", 32)
  k:ld_shared_v4_b32(words, kit.mine(k, tile))
  k:bar_sync(0)
  kit.multiply(k, acc, tile, b)
  k:cp_async_bulk_tensor_store_2d(to, { zero, zero }, tile, { guard = first })
  k:cp_async_bulk_commit_group { guard = first }
  k:cp_async_bulk_wait_group(0, { guard = first })
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 64, 64 }) } }
