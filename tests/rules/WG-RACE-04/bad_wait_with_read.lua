-- WG-RACE-04, broken: the wait for a copy to global memory says that its source is read, not that it has written.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local thread = k:special "tid.x"
  local first = thread:eq(0)
  k:st_shared_f32(k:mad_lo_u32(thread, 4, k:mov(tile, { type = "u32" })), 1)
  k:fence_proxy_async()
  k:bar_sync(0)
  k:cp_async_bulk_store(X, tile, 512, { guard = first })
  k:cp_async_bulk_commit_group { guard = first }
  k:cp_async_bulk_wait_group(0, { read = true })
  k:bar_sync(0)
  k:ld_global_f32(k:element(X, thread)) -- EXPECT IN RUN: WG-RACE-04 -- EXPECT: WG-RACE-04
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
