-- WG-RACE-03, broken: The source of a bulk copy to global memory is overwritten only after the thread that issued the copy has waited for its group, and a barrier.
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
  k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
  k:cp_async_bulk_commit_group{guard=first}
  k:bar_sync(0)
  k:st_shared_f32(mine, 2) -- EXPECT IN RUN: WG-RACE-03 -- EXPECT: WG-RACE-03
  k:cp_async_bulk_wait_group(0)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 8, 64 }) } }
