-- Waits for phases that the warp knows of already, or that others wait for: all warps after a barrier that follows the
-- first one's wait; the same phase in every turn of a loop; two warps that take the phases in turn, so that each waits
-- with the same parity twice.
-- good: after_barrier every_turn in_turn looks_first
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")

local kernel = wg.kernel("phases", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local one, two = k:shared { bytes = 2048, align = 128, name = "one" }, k:shared { bytes = 2048, align = 128, name = "two" }
  local bar1, bar2 = kit.mbarriers(k, { 1, 1 })
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  local function load(tile, barrier)
    k:mbarrier_arrive_expect_tx(barrier, 2048, { guard = first })
    k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, barrier, { guard = first })
  end
  local function read(tile) k:ld_shared_b32(kit.mine(k, tile)) end
  local function done()
    k:fence_proxy_async()
    k:bar_sync(0)
  end
  if kit.is "after_barrier" then
    for round = 0, 3 do
      load(one, bar1)
      k:if_((thread >> 5):eq(2), function() k:mbarrier_wait(bar1, round & 1) end)
      k:bar_sync(0)
      k:mbarrier_wait(bar1, round & 1)
      read(one)
      done()
    end
  elseif kit.is "every_turn" then
    -- `one` stays, `two` changes.
    load(one, bar1)
    for round = 0, 3 do
      load(two, bar2)
      k:mbarrier_wait(bar1, 0)
      read(one)
      k:mbarrier_wait(bar2, round & 1)
      read(two)
      done()
    end
    load(one, bar1)
    k:mbarrier_wait(bar1, 1)
    read(one)
  elseif kit.is "in_turn" then
    for round = 0, 5 do
      load(one, bar1)
      k:if_((thread >> 6):eq(round & 1), function()
        k:mbarrier_wait(bar1, round & 1)
        read(one)
      end)
      done()
    end
  else
    for round = 0, 3 do
      load(one, bar1)
      local there = k:mbarrier_test_wait_parity(bar1, round & 1)
      k:if_(there, function() k:mbarrier_wait(bar1, round & 1) end)
      k:mbarrier_wait(bar1, round & 1)
      read(one)
      done()
    end
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
