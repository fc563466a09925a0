-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_ws_cluster_barrier_does_not_replace_local_handoff, test_async_shared_store_completion,
-- test_async_shared_store_expect_bytes, test_async_shared_store_proxy_handoff (here with a bulk copy to the peer; with
-- st.async: consan_async_store.lua). A barrier of the cluster that another role comes to replaces no handoff; bytes
-- sent to a peer are there when its mbarrier says so.
-- bad: other_role no_wait wrong_bytes
-- good: handed_over sent
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("handoff", { threads = 64, cluster = { 2 } }, function(k)
  local tile = k:shared { bytes = 512, align = 128, name = "tile" }
  local got = k:shared { bytes = 512, align = 128, name = "got" }
  local bar = kit.mbarriers(k, { kit.is("other_role", "handed_over") and 32 or 1 })
  local thread, words = k:special "tid.x", kit.words(k)
  local warp, at = thread >> 5, k:mad_lo_u32(k:special "laneid", 16, k:mov(tile, { type = "u32" }))
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  meet()
  if kit.is("other_role", "handed_over") then
    k:if_(warp:eq(0), function()
      k:barrier_cluster_arrive()
      k:st_shared_v4_b32(at, words) -- MAYBE(other_role): WG-RACE-01
      k:mbarrier_arrive(bar)
      k:barrier_cluster_wait()
    end, function()
      meet()
      if kit.is "handed_over" then k:mbarrier_wait(k:address(bar), 0) end
      k:ld_shared_b32(at) -- MAYBE(other_role): WG-RACE-01 -- MAYBE(other_role): WG-MEM-04
    end)
  else
    k:st_shared_v4_b32(at, words, { guard = warp:eq(0) })
    k:fence_proxy_async()
    k:bar_sync(0)
    local rank = k:special "cluster_ctarank"
    k:if_(thread:eq(0), function()
      k:mbarrier_arrive_expect_tx(bar, kit.is "wrong_bytes" and 528 or 512) -- MAYBE(wrong_bytes): WG-MBAR-03
      k:cp_async_bulk_cluster(k:mapa(k:address(got), rank ~ 1), k:address(tile), 512, k:mapa(k:address(bar), rank ~ 1)) -- EXPECT(no_wait): WG-TMA-03 -- MAYBE(no_wait): WG-RACE-01
    end)
    if not kit.is "no_wait" then k:mbarrier_wait(bar, 0) end -- EXPECT(wrong_bytes): WG-MBAR-05
    k:ld_shared_b32(k:mad_lo_u32(k:special "laneid", 16, k:mov(got, { type = "u32" }))) -- MAYBE(no_wait): WG-TMA-02 -- MAYBE(no_wait): WG-MEM-04
  end
  meet()
end)
kernel:run { grid = { 2 }, args = {} }
