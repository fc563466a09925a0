-- https://github.com/tile-ai/tilelang/issues/2605: K of a sparse product was no multiple of the instruction's, and the
-- rest was dropped without a word.
-- bad: compress tile
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local K = kit.is "fixed" and 64 or 72
if kit.is "compress" then wg.sparse.compress(wg.zeros("bf16", { 64, K })) end -- EXPECT(compress): refused

local kernel = wg.kernel("tail", { threads = 128 }, function(k)
  local a = k:shared(wg.tile { dtype = "bf16", mn = 64, k = K // 2, major = "K", swizzle = "64B" }, "a") -- EXPECT(tile): WG-LAYOUT-01
  local b = k:shared(kit.tile, "b")
  local words, at = kit.words(k), kit.mine(k, a)
  for i = 0, 1 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end
  kit.fill(k, { b })
  local acc, meta = k:regs("f32", 32), k:regs("b32", 2)
  for i = 0, 1 do k:mov(meta[i], 0xEEEEEEEE) end
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, metadata = meta, scale_d = 0 })
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
