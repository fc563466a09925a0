-- WG-TMA-01, broken: A bulk copy names a tensor map of its number of dimensions and an address in shared memory that is a multiple of 128 bytes, or if linear, sizes and addresses that are multiples of 16; a store does not start below 0.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 1024, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  local mine = k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" }))
  local from = k:mov(tile, { type = "u32" })
  local word = k:mov(0, { type = "b32" })
  k:st_shared_v2_b32(k:mad_lo_u32(thread, 8, from), {word, word})
  k:fence_proxy_async()
  k:bar_sync(0)
  k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, from + 64, {guard=first}) -- EXPECT: WG-TMA-01
  k:cp_async_bulk_commit_group()
  k:cp_async_bulk_wait_group(0)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 8, 64 }) } }
