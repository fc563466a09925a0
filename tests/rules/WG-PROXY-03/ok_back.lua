-- WG-PROXY-03, kept: what a copy has written is read after its wait, without a fence; then written, fenced and copied.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map, X = k:tensor_map("Y", { dtype = "f32", box = { 32, 4 } }), k:param("X", "f32*")
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  local first = thread:eq(0)
  local mine, sum = k:element(X, thread), k:mov(0, { type = "f32" })
  local place = k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" }))
  for i = 1, 2 do
    k:st_shared_f32(place, k:mov(3 * i, { type = "f32" }))
    k:fence_proxy_async()
    k:bar_sync(0)
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile, { guard = first })
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
    k:bar_sync(0)
    k:add(sum, sum, k:ld_global_f32(mine))
    k:st_global_f32(mine, sum)
  end
end)
local X = wg.zeros("f32", { 4, 32 })
kernel:run { grid = { 1 }, args = { X, X } }
