-- Producer and consumers around a ring of stages, in the ways that are all right: bytes expected before or after the
-- copies, the producer beginning with the parity that a fresh mbarrier passes, or the consumers arriving in advance; one
-- product left in flight while the stage before it is released; test_wait in a loop of its own.
-- good: before after pre_arrive one_in_flight test_wait elected short long
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local stages, bytes = kit.is "short" and 1 or 3, kit.tile.bytes
local rounds = kit.is "short" and 2 or kit.is "long" and 8 or 5

local kernel = wg.kernel("ring", { threads = 256 }, function(k)
  local map_a = k:tensor_map("A", { dtype = "bf16", tile = kit.tile })
  local map_b = k:tensor_map("B", { dtype = "bf16", tile = kit.tile })
  local tiles_a, tiles_b = {}, {}
  for s = 1, stages do tiles_a[s], tiles_b[s] = k:shared(kit.tile, "a" .. s), k:shared(kit.tile, "b" .. s) end
  local full = k:shared { bytes = 8 * stages, align = 8, name = "full" }
  local empty = k:shared { bytes = 8 * stages, align = 8, name = "empty" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    for s = 0, stages - 1 do
      k:mbarrier_init(k:address(full, 8 * s), 1)
      k:mbarrier_init(k:address(empty, 8 * s), 128)
    end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  local function wait(barrier, parity)
    if not kit.is "test_wait" then return k:mbarrier_wait(barrier, parity) end
    k:while_(function() return k["not"](k, k:mbarrier_test_wait_parity(barrier, parity)) end, function() end)
  end
  local zero = k:mov(0, { type = "s32" })
  local function produce()
    for i = 0, rounds - 1 do
      local s, turn = i % stages, i // stages
      local barrier, at_a, at_b = k:address(full, 8 * s), tiles_a[s + 1], tiles_b[s + 1]
      wait(k:address(empty, 8 * s), kit.is "pre_arrive" and turn & 1 or turn & 1 ~ 1)
      if not kit.is "after" then k:mbarrier_arrive_expect_tx(barrier, 2 * bytes) end
      k:cp_async_bulk_tensor_2d(at_a, map_a, { zero, zero }, barrier)
      k:cp_async_bulk_tensor_2d(at_b, map_b, { zero, zero }, barrier)
      if kit.is "after" then k:mbarrier_arrive_expect_tx(barrier, 2 * bytes) end
    end
  end
  k:if_((thread >> 7):eq(0), function()
    if kit.is "elected" then
      k:if_((thread >> 5):eq(0), function() k:if_(k:elect_sync(0xFFFFFFFF), produce) end)
    else
      k:if_(thread:eq(0), produce)
    end
  end, function()
    local acc = k:regs("f32", 32)
    if kit.is "pre_arrive" then
      for s = 0, stages - 1 do k:mbarrier_arrive(k:address(empty, 8 * s)) end
    end
    for i = 0, rounds - 1 do
      local s, turn = i % stages, i // stages
      wait(k:address(full, 8 * s), turn & 1)
      k:wgmma_fence()
      k:mma(acc, { a = tiles_a[s + 1], b = tiles_b[s + 1], scale_d = i > 0 and 1 or 0 })
      if kit.is "one_in_flight" then
        k:wgmma_wait_group(1)
        if i > 0 then k:mbarrier_arrive(k:address(empty, 8 * ((i - 1) % stages))) end
      else
        k:wgmma_wait_group(0)
        k:mbarrier_arrive(k:address(empty, 8 * s))
      end
    end
    k:wgmma_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 64, 64 }) } }
