-- Two pipelines whose mbarriers lie in one array, and a third use of it after mbarrier.inval; memory that was a tile and
-- becomes the panel of the epilogue.
-- good: r1 r2 r5
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../bugs/kit.lua")
local rounds = math.tointeger(tonumber(kit.variant:match "%d+" or 1))

local kernel = wg.kernel("array", { threads = 128 }, function(k)
  local map_x, map_y = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } }), k:tensor_map("Y", { dtype = "f32", box = { 32, 16 } })
  local map_out = k:tensor_map("Out", { dtype = "f32", box = { 32, 16 } })
  local tiles = k:shared { bytes = 4 * 2048, align = 128, name = "tiles" }
  local barriers = k:shared { bytes = 4 * 8, align = 8, name = "barriers" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:if_(first, function()
    for i = 0, 3 do k:mbarrier_init(k:address(barriers, 8 * i), 1) end
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  local sum = k:mov(0, { type = "f32" })
  k:loop(2 * rounds, function(i)
    local stage, parity = i & 1, (i >> 1) & 1
    for pipe, map in ipairs { map_x, map_y } do
      local index = stage + 2 * (pipe - 1)
      local barrier, tile = k:address(barriers, index << 3), k:address(tiles, index << 11)
      k:if_(first, function()
        k:mbarrier_arrive_expect_tx(barrier, 2048)
        k:cp_async_bulk_tensor_2d(tile, map, { zero, zero }, barrier)
      end)
      k:mbarrier_wait(barrier, parity)
      k:add(sum, sum, k:ld_shared_f32(tile + (k:special "tid.x" << 2)))
      k:fence_proxy_async { space = "shared::cta" }
    end
    k:bar_sync(0)
  end)
  k:if_(first, function() k:mbarrier_inval(k:address(barriers)) end)
  k:bar_sync(0)
  -- The tiles' memory becomes a panel for a TMA store, and is used again once that has been read.
  for turn = 0, 1 do
    local mine = k:address(tiles, k:special "tid.x" << 4)
    k:st_shared_v4_f32(mine, { sum, sum, sum, sum })
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_sync(0)
    k:cp_async_bulk_tensor_store_2d(map_out, { zero, k:mov(16 * turn, { type = "s32" }) }, tiles, { guard = first })
    k:cp_async_bulk_commit_group { guard = first }
    k:cp_async_bulk_wait_group(0, { read = true, guard = first })
    k:bar_sync(0)
  end
  k:if_(first, function()
    k:mbarrier_init(k:address(barriers), 1)
    k:mbarrier_arrive(k:address(barriers))
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }), wg.zeros("f32", { 16, 32 }), wg.zeros("f32", { 32, 32 }) } }
