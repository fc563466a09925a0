-- WG-TMA-03, broken: A CTA waits for its bulk copies before it ends: for the phases of those that come, and for the groups of those that go until they have read its memory.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 1024, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  local mine = k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" }))
  k:st_shared_f32(mine, 1)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first}) -- EXPECT: WG-TMA-03
  k:cp_async_bulk_commit_group()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 8, 64 }) } }
