-- WG-PROXY-03, broken: the copy overwrites what the threads have written first, and nothing orders the proxies.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map, X = k:tensor_map("Y", { dtype = "f32", box = { 32, 4 } }), k:param("X", "f32*")
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local thread, zero, value = k:special "tid.x", k:mov(0, { type = "s32" }), k:mov(1, { type = "f32" })
  local first = thread:eq(0)
  k:st_global_f32(k:element(X, thread), 0)
  k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), value)
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_sync(0)
  k:if_(first, function()
    k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile) -- EXPECT: WG-PROXY-03 -- EXPECT IN RUN: WG-PROXY-03
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0)
  end)
end)
local X = wg.zeros("f32", { 4, 32 })
kernel:run { grid = { 1 }, args = { X, X } }
