-- WG-SYNC-05, kept: without clusters a CTA reads, writes and tells itself through shared::cluster; st.async stays in its cluster of two.
local wg = require "wgrun"

local function send(cluster, asynchronously)
  local kernel = wg.kernel("case", { threads = 32, cluster = cluster }, function(k)
    local words = k:shared { bytes = 128, align = 16, name = "words" }
    local full = k:shared { bytes = 8, align = 8, name = "full" }
    local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
    local own, bar = k:mad_lo_u32(thread, 4, k:mov(words, { type = "u32" })), k:mov(full, { type = "u32" })
    k:if_(thread:eq(0), function()
      k:mbarrier_init(full, 1)
      k:fence_mbarrier_init()
      if asynchronously then k:mbarrier_arrive_expect_tx(bar, 128) end
    end)
    k:bar_sync(0)
    local to, told = k:mapa_u32(own, rank), k:mapa_u32(bar, rank)
    if asynchronously then
      k:st_async_u32(to, thread, told)
    else
      k:st_shared_cluster_u32(to, thread)
      k:bar_warp_sync()
      k:if_(thread:eq(0), function() k:mbarrier_arrive_shared_cluster(told) end)
    end
    k:mbarrier_wait(bar, 0)
    k:ld_shared_u32(own)
  end)
  kernel:run { grid = { cluster }, args = {} }
end
send(1, false)
send(2, true)
