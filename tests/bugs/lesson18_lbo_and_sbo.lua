-- https://github.com/NVIDIA/cutlass/issues/1688 and many like it: which of LBO and SBO is what, and which is ignored. In a
-- K-major tile with a swizzle SBO is the step to the next 8 rows, and LBO means nothing.
-- bad: swapped zero swizzle
-- good: fixed lbo_is_ignored
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("descriptor", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.fill(k, { a, b })
  local lbo, sbo, swizzle = 1, 1024 >> 4, 1
  if kit.is "swapped" then lbo, sbo = sbo, lbo end
  if kit.is "zero" then sbo = 0 end
  if kit.is "swizzle" then swizzle = 2 end
  if kit.is "lbo_is_ignored" then lbo = 0 end
  local db = k:matrix_descriptor(k:mov(b, { type = "u32" }), lbo << 16 | sbo << 32 | swizzle << 62)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT: WG-DESC-01
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
