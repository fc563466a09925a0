-- WG-TMA-06, broken: 8 elements of a byte; a store, whose other coordinates may be any.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "e4m3", box = { 32, 4 } })
  local tile = k:shared { bytes = 128, align = 128, name = "tile" }
  local lane = k:special "tid.x"
  k:st_shared_u32(k:mad_lo_u32(lane, 4, k:mov(tile, { type = "u32" })), lane)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(lane:eq(0), function()
    local eight, three = k:mov(8, { type = "s32" }), k:mov(3, { type = "s32" })
    k:cp_async_bulk_tensor_store_2d(map, { eight, three }, tile) -- EXPECT: WG-TMA-06
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("e4m3", { 8, 64 }) } }
