-- https://github.com/tile-ai/tilelang/issues/2613: not pipelined, warp specialised: the next copy overwrites an operand
-- that the asynchronous wgmma still reads. 21 to 27 of 30 runs wrong on an H100.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("specialised", { threads = 160 }, function(k)
  local map = k:tensor_map("X", { dtype = "bf16", tile = kit.tile })
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  local full, empty = kit.mbarriers(k, { 1, 128 })
  local thread, zero, rounds = k:special "tid.x", k:mov(0, { type = "s32" }), 3
  k:if_(thread:ge(128), function()
    k:if_(thread:eq(128), function()
      k:loop(rounds, function(i)
        k:mbarrier_wait(k:address(empty), (i & 1) ~ 1)
        k:mbarrier_arrive_expect_tx(full, 2 * kit.tile.bytes)
        k:cp_async_bulk_tensor_2d(a, map, { zero, zero }, full) -- EXPECT: WG-RACE-02
        k:cp_async_bulk_tensor_2d(b, map, { zero, zero }, full) -- EXPECT: WG-RACE-02
      end)
    end)
  end, function()
    local acc = k:regs("f32", 32)
    k:loop(rounds, function(i)
      k:mbarrier_wait(k:address(full), i & 1)
      k:wgmma_fence()
      k:mma(acc, { a = a, b = b, scale_d = i:gt(0) })
      if kit.is "fixed" then k:wgmma_wait_group(0) end
      k:mbarrier_arrive(empty)
    end)
    k:wgmma_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 64 }) } }
