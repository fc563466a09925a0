-- WG-PROXY-03, broken: one thread fences for all, before the barrier.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local map, X = k:tensor_map("Y", { dtype = "f32", box = { 32, 4 } }), k:param("X", "f32*")
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local thread, zero, value = k:special "tid.x", k:mov(0, { type = "s32" }), k:mov(1, { type = "f32" })
  local first = thread:eq(0)
  k:red_add_f32(k:element(X, thread), value, { space = "global" })
  k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), value)
  k:fence_proxy_async { space = "shared::cta" }
  k:fence_proxy_async({ space = "global", guard = first })
  k:bar_sync(0)
  k:cp_reduce_async_bulk_tensor_2d(map, { zero, zero }, tile, { op = "add", guard = first }) -- EXPECT: WG-PROXY-03 -- EXPECT IN RUN: WG-PROXY-03
  k:cp_async_bulk_commit_group()
  k:cp_async_bulk_wait_group(0)
end)
local X = wg.zeros("f32", { 4, 32 })
kernel:run { grid = { 1 }, args = { X, X } }
