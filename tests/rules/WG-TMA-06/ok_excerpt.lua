-- WG-TMA-06, kept: A box starts at a multiple of 16 bytes of its tensor's lines, inside of the tensor or outside; one that is stored or reduced does not start below 0.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 }, constant = true })
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  local column = k:mov(4, { type = "s32" }) -- of f32: 16 bytes
  k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
  k:cp_async_bulk_tensor_2d(tile, map, {column, zero}, full, {guard=first})
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 8, 64 }) } }
