-- What thread 1 has fenced is ordered before the copy of thread 0 when the two meet afterwards: a fence covers whatever its thread
-- has observed.
local wg = require "wgrun"
local kernel = wg.kernel("neighbour", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local words = k:regs("b32", 4)
  for i = 0, 3 do k:mov(words[i], 0) end
  k:st_shared_v4_b32(k:mad_lo_u32(thread, 16, k:mov(tile, { type = "u32" })), words)
  k:bar_sync(0)
  k:if_(thread:eq(1), function() k:fence_proxy_async { space = "shared::cta" } end)
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
