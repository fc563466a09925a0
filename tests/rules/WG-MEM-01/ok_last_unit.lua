-- WG-MEM-01, kept: the tensor is a whole number of units of 16 bytes.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local map = k:tensor_map("X", { dtype = "u8", box = { 64 } })
  local line = k:shared { bytes = 64, align = 128, name = "line" }
  local thread = k:special "tid.x"
  k:st_shared_u16(k:mad_lo_u32(thread, 2, k:mov(line, { type = "u32" })), 3)
  k:fence_proxy_async()
  k:bar_warp_sync()
  k:if_(thread:eq(0), function()
    k:cp_async_bulk_tensor_store_1d(map, { k:mov(192, { type = "s32" }) }, line)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u8", { 256 }) } }
