-- WG-TMA-06, kept: a store of pixels that goes on at the begin of the next line.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "u32", box = { 4, 8 }, lower = { 0 }, upper = { 0 } })
  local tile = k:shared { bytes = 128, align = 128, name = "tile" }
  local lane = k:special "tid.x"
  k:st_shared_u32(k:address(tile, lane * 4), lane)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(lane:eq(0), function()
    local zero, column = k:mov(0, { type = "s32" }), k:mov(3, { type = "s32" })
    k:cp_async_bulk_tensor_store_im2col_3d(map, { zero, column, zero }, tile)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 3, 5, 4 }) } }
