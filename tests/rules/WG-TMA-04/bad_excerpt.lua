-- WG-TMA-04, broken: A tensor map has 1 to 5 dimensions and a box with sides of 1 to 256 elements, whose lines are multiples of 16 bytes and no longer than the swizzle; the rows of its tensor are multiples of 16 bytes.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local zero = k:mov(0, { type = "s32" })
  local map = k:tensor_map("X", {dtype="f32", box={64, 4}, swizzle="128B"}) -- EXPECT: WG-TMA-04
  local tile = k:shared{bytes=1024, align=1024, name="tile"}
  local thread = k:special "tid.x"
  local first = thread:eq(0)
  local word = k:mov(0, { type = "b32" })
  k:st_shared_v2_b32(k:mad_lo_u32(thread, 8, k:mov(tile, { type = "u32" })), {word, word})
  k:fence_proxy_async()
  k:bar_sync(0)
  k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile, {guard=first})
  k:cp_async_bulk_commit_group{guard=first}
  k:cp_async_bulk_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 64 }) } }
