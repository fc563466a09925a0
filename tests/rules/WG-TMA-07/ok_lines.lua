-- WG-TMA-07, kept: each lane stores a line of its own.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 4 } })
  local tile = k:shared { bytes = 1024, align = 128, name = "tile" }
  local thread, zero = k:special "tid.x", k:mov(0, { type = "s32" })
  k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), 1)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:if_(thread:lt(4), function()
    local line = k:mov(thread * 128 + k:mov(tile, { type = "u32" }))
    k:cp_async_bulk_store(k:element(k:param("Y", "f32*"), thread * 32), line, 128)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 8, 64 }), wg.zeros("f32", 128) } }
