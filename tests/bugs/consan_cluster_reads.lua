-- https://github.com/triton-lang/triton/blob/main/python/test/gluon/test_consan.py:
-- test_remote_shared_load_reader_visibility, test_cluster_barrier_does_not_publish_later_read,
-- test_local_gather_scatter_cross_cta_visibility, test_local_indexed_cross_cta_visibility. Accesses to a peer's shared
-- memory, and what the owner does with it: a relaxed barrier of the cluster does not order them.
-- bad: relaxed none later_read scatter
-- good: published scatter_published
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("peer", { threads = 128, cluster = { 2 } }, function(k)
  local tile = k:shared { bytes = 2048, align = 16, name = "tile" }
  local mine, words = kit.mine(k, tile), kit.words(k)
  local theirs = k:mapa(mine, k:special "cluster_ctarank" ~ 1)
  local values = k:regs("b32", 4)
  local function meet(relaxed)
    k:barrier_cluster_arrive(relaxed and { sem = "relaxed" } or {})
    k:barrier_cluster_wait()
  end
  k:st_shared_v4_b32(mine, words)
  meet()
  if kit.is("scatter", "scatter_published") then
    k:st_v4_b32(theirs, words, { space = "shared::cluster" }) -- MAYBE(scatter): WG-RACE-01
  else
    k:ld_v4_b32(values, theirs, { space = "shared::cluster" }) -- MAYBE(relaxed none): WG-RACE-01
  end
  if not kit.is("none", "scatter") then meet(kit.is "relaxed") end
  if kit.is "later_read" then k:ld_v4_b32(values, theirs, { space = "shared::cluster" }) end -- MAYBE(later_read): WG-RACE-01
  k:st_shared_v4_b32(mine, words) -- MAYBE(relaxed none later_read scatter): WG-RACE-01
  meet()
end)
kernel:run { grid = { 2 }, args = {} }
