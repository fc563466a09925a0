-- WG-DESC-04, kept: stages in a plain buffer, and K steps within the lines of the pattern.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local swizzle_128B, one_group = 1 << 62, 64 << 32 -- SBO 1024

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local Y, n = k:param("Y", "f32*"), k:param("n", "u32")
  local stages = k:shared { bytes = 20480, align = 1024, name = "stages" }
  kit.fill(k, { stages })
  local acc = k:regs("f32", 32)
  k:loop(n, function(i)
    local d = k:matrix_descriptor(k:address(stages, (i >> 2) * 8192 + (i & 3) * 32), swizzle_128B | one_group)
    k:wgmma_fence()
    k:wgmma_mma_async(acc, d, d, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end)
  k:st_global_f32(k:element(Y, k:special "tid.x"), acc[0])
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 128), 8 } }
