-- WG-MEM-04, broken: what discard.L2 has discarded is read, by a thread and by a bulk copy, before it is written again.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y = k:param("X", "u32*"), k:param("Y", "u32*")
  local tile, full = k:shared { bytes = 128, align = 128, name = "tile" }, k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  local first = thread:eq(0)
  k:mbarrier_init(full, 1, { guard = first })
  k:fence_mbarrier_init { guard = first }
  k:discard_global_L2(k:element(X, 0), { guard = first })
  k:bar_sync(0)
  k:st_global_u32(k:element(Y, thread), k:ld_global_u32(k:element(X, thread))) -- EXPECT IN RUN: WG-MEM-04 -- EXPECT: WG-MEM-04
  k:fence_proxy_async()
  k:bar_sync(0)
  k:mbarrier_arrive_expect_tx(full, 128, { guard = first })
  k:cp_async_bulk(tile, k:element(X, 0), 128, full, { guard = first }) -- EXPECT IN RUN: WG-MEM-04 -- EXPECT: WG-MEM-04
  k:mbarrier_wait(full, 0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32), wg.zeros("u32", 32) } }
