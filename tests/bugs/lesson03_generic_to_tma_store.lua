-- https://github.com/triton-lang/triton/pull/9610 and https://github.com/triton-lang/triton/issues/10537: no proxy fence
-- between st.shared and a TMA store. It surfaced with a newer ptxas. stmatrix counts as a generic write as well.
-- bad: store matrix
-- good: store_fixed matrix_fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("store", { threads = 128 }, function(k)
  local map = k:tensor_map("X", { dtype = "f32", box = { 32, 16 } })
  local tile = k:shared { bytes = 2048, align = 128, name = "tile" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  local words, mine = kit.words(k), kit.mine(k, tile)
  if kit.is("store", "store_fixed") then k:st_shared_v4_b32(mine, words) else k:stmatrix_x4(mine, words) end
  if kit.is("store_fixed", "matrix_fixed") then k:fence_proxy_async { space = "shared::cta" } end
  k:bar_sync(0)
  k:cp_async_bulk_tensor_store_2d(map, { zero, zero }, tile, { guard = first }) -- EXPECT: WG-PROXY-01
  k:cp_async_bulk_commit_group { guard = first }
  k:cp_async_bulk_wait_group(0, { guard = first })
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 16, 32 }) } }
