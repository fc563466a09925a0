-- https://github.com/tile-ai/tilelang/issues/2634: fence.proxy.async was put before a dense wgmma, not before a sparse
-- one. 29000 runs gave the right numbers because of a bar.sync; a smaller kernel did race.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local stored = wg.tile { dtype = "bf16", mn = 64, k = 32, major = "K", swizzle = "64B" }

local kernel = wg.kernel("sparse", { threads = 128 }, function(k)
  local a, b = k:shared(stored, "a"), k:shared(kit.tile, "b")
  local words, at = kit.words(k), kit.mine(k, a)
  for i = 0, 1 do k:st_shared_v4_b32(at, words, { offset = 2048 * i }) end
  kit.store(k, { b })
  if kit.is "fixed" then k:fence_proxy_async { space = "shared::cta" } end
  k:bar_sync(0)
  local acc, meta = k:regs("f32", 32), k:regs("b32", 2)
  for i = 0, 1 do k:mov(meta[i], 0xEEEEEEEE) end
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, metadata = meta, scale_d = 0 }) -- EXPECT: WG-PROXY-01
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
