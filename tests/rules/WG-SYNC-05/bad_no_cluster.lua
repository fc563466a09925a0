-- WG-SYNC-05, broken: a CTA sends to itself by st.async, and the kernel has no clusters.
-- No call mends it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local words = k:shared { bytes = 128, align = 16, name = "words" }
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  local own, bar = k:mad_lo_u32(thread, 4, k:mov(words, { type = "u32" })), k:mov(full, { type = "u32" })
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(bar, 128)
  end)
  k:bar_sync(0)
  k:st_async_u32(k:mapa_u32(own, 0), thread, k:mapa_u32(bar, 0)) -- EXPECT: WG-SYNC-05 -- EXPECT IN RUN: WG-SYNC-05
  k:mbarrier_wait(bar, 0)
end)
kernel:run { grid = { 1 }, args = {}, unchecked = true }
