-- https://github.com/facebookexperimental/triton/pull/2292 and https://github.com/triton-lang/triton/issues/11730: a CTA stores to a
-- peer that may not have begun, or has yet to initialise what is overwritten; and one ends while its peers read its memory.
-- bad: begin exit
-- good: both_barriers
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("exchange", { threads = 32, cluster = { 2 } }, function(k)
  local Y, slot = k:param("Y", "u32*"), k:shared { bytes = 128, align = 16, name = "slot" }
  local thread, rank = k:special "tid.x", k:special "cluster_ctarank"
  local mine = k:address(slot, thread * 4)
  local function meet()
    k:barrier_cluster_arrive()
    k:barrier_cluster_wait()
  end
  k:st_shared_u32(mine, 0xFFFFFFFF) -- MAYBE(begin): WG-RACE-01
  if not kit.is "begin" then meet() end
  k:st_u32(k:mapa(mine, rank ~ 1), rank, { space = "shared::cluster" }) -- EXPECT(begin): WG-RACE-01 -- MAYBE(begin): WG-SYNC-05
  meet()
  local seen = k:ld_u32(k:mapa(mine, rank ~ 1), { space = "shared::cluster" }) -- EXPECT(exit): WG-SYNC-05
  if not kit.is "exit" then meet() end
  k:st_global_u32(k:element(Y, rank * 32 + thread), seen)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 64) } }
