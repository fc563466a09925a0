-- WG-TMA-07, kept: A bulk copy out of shared memory that is the same for all lanes of a warp is issued by one of them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 1024, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), 1)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    k:cp_async_bulk_tensor_store_2d(map, {zero, zero}, tile)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 64 }) } }
