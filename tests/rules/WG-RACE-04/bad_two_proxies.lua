-- WG-RACE-04, broken: a reducing copy and atomics add to the same elements at a time, through two proxies.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, thread = k:param("X", "f32*"), k:special "tid.x"
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), 1)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:cp_reduce_async_bulk(X, tile, 512, { op = "add", type = "f32", guard = thread:eq(0) })
  k:cp_async_bulk_commit_group()
  k:bar_sync(0)
  k:red_add_f32(k:element(X, thread), 1, { space = "global" }) -- EXPECT IN RUN: WG-RACE-04 -- EXPECT: WG-RACE-04
  k:cp_async_bulk_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
