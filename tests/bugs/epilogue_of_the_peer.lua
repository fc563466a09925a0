-- https://github.com/inclusionAI/humming/pull/56: the CTA that copies to both by multicast begins the next tile after its own
-- epilogue, while the other still reads what the last copy brought.
-- bad: own_epilogue
-- good: both_epilogues
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("tiles", { threads = 32, cluster = { 2 } }, function(k)
  local Y, map = k:param("Y", "f32*"), k:tensor_map("X", { dtype = "f32", box = { 32 } })
  local tile = k:shared { bytes = 128, align = 128, name = "tile" }
  local full, done = k:shared { bytes = 8, align = 8, name = "full" }, k:shared { bytes = 8, align = 8, name = "done" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  local first, leads = thread:eq(0), (thread | rank):eq(0)
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:mbarrier_init(done, kit.is "own_epilogue" and 1 or 2)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, 128) -- MAYBE: WG-MBAR-03
  end)
  meet()
  k:loop(3, function(i)
    k:cp_async_bulk_tensor_1d(tile, map, { k:mov(i * 32, { type = "s32" }) }, full, { mask = 3, guard = leads }) -- EXPECT: WG-MBAR-03 -- MAYBE: WG-RACE-01 -- MAYBE: WG-PROXY-02 -- MAYBE: WG-TMA-02
    k:mbarrier_wait(full, i & 1)
    -- The next phase is expected before anybody is told that this tile is done.
    k:if_(first & i:lt(2), function() k:mbarrier_arrive_expect_tx(full, 128) end) -- MAYBE: WG-MBAR-03
    k:st_global_f32(k:element(Y, (rank * 3 + i) * 32 + thread), k:ld_shared_f32(k:address(tile, thread * 4))) -- MAYBE: WG-RACE-01 -- MAYBE: WG-TMA-02
    k:fence_proxy_async { space = "shared::cta" }
    k:bar_warp_sync()
    if kit.is "own_epilogue" then
      k:mbarrier_arrive(done, { guard = first })
      k:mbarrier_wait(done, i & 1)
    else
      k:mbarrier_arrive(k:mapa(k:address(done), 0), { space = "shared::cluster", sem = "release.cluster", guard = first })
      k:if_(rank:eq(0), function() k:mbarrier_wait(done, i & 1) end)
    end
  end)
  meet()
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", 192), wg.zeros("f32", 96) } }
