-- https://github.com/triton-lang/triton/pull/10843: a fence of the CTA's shared memory does not cover what was written
-- to, or read from, a peer's. CTA 0 writes the memory of CTA 1, whose TMA stores it.
-- bad: bug
-- good: fixed fixed_by_reader
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("scope", { threads = 128, cluster = { 2 } }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local thread, rank, zero = k:special "tid.x", k:special "cluster_ctarank", k:mov(0, { type = "s32" })
  local row = k:mul_lo_s32(rank, 16)
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  k:st_v4_b32(k:mapa(kit.mine(k, tile), rank ~ 1), kit.words(k), { space = "shared::cluster" })
  if kit.is "bug" then k:fence_proxy_async { space = "shared::cta" } end
  if kit.is "fixed" then k:fence_proxy_async { space = "shared::cluster" } end
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  if kit.is "fixed_by_reader" then k:fence_proxy_async { space = "shared::cta" } end
  local first = thread:eq(0)
  k:cp_async_bulk_tensor_store_2d(map, { zero, row }, tile, { guard = first }) -- EXPECT: WG-PROXY-01
  k:cp_async_bulk_commit_group { guard = first }
  k:cp_async_bulk_wait_group(0, { guard = first })
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 32, 32 }) } }
