-- WG-PROXY-02, broken: the same in a prepared launch.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 1024, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  local mine = k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" }))
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
  k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first})
  k:mbarrier_wait(full, 0)
  local x = k:ld_shared_f32(mine)
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 512, {guard=first})
  k:cp_async_bulk_tensor_2d(tile, map, {zero, zero}, full, {guard=first}) -- EXPECT IN RUN: WG-PROXY-02 -- EXPECT: WG-PROXY-02
  k:mbarrier_wait(full, 1)
end)
local launch = kernel:prepare { grid = { 2 }, args = { wg.zeros("f32", { 8, 64 }) } }
launch:start()
launch:wait()
