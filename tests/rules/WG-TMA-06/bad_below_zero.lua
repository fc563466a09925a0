-- WG-TMA-06, broken: a reduction into a box that begins before its tensor.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 8, 4 } })
  local tile = k:shared { bytes = 128, align = 128, name = "tile" }
  local lane = k:special "tid.x"
  k:st_shared_f32(k:mad_lo_u32(lane, 4, k:mov(tile, { type = "u32" })), 1.0)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(lane:eq(0), function()
    local before, zero = k:mov(-4, { type = "s32" }), k:mov(0, { type = "s32" })
    k:cp_reduce_async_bulk_tensor_2d(map, { before, zero }, tile, { op = "add" }) -- EXPECT: WG-TMA-06
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 64 }) } }
