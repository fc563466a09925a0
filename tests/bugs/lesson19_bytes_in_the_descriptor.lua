-- https://github.com/tile-ai/tilelang/pull/813: LBO and SBO were put into the descriptor as bytes, not as units of 16.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

-- Without a swizzle LBO is the step along K, and SBO that to the next 8 rows: 8 x 8 elements of 128 bytes.
local plain = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "none" }

local kernel = wg.kernel("bytes", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(plain, "b")
  kit.fill(k, { a, b })
  local lbo, sbo = plain:offset(0, 8), plain:offset(8, 0)
  if kit.is "fixed" then lbo, sbo = lbo >> 4, sbo >> 4 end
  local db = k:matrix_descriptor(k:mov(b, { type = "u32" }), lbo << 16 | sbo << 32)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT: WG-DESC-01
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
