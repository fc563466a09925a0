-- https://github.com/NVIDIA/cutlass/issues/1840: a tile of 256 x 128 for one warpgroup, 256 accumulators a thread: the
-- assembler finds no registers, and makes the wgmma wait for each other (C7511, C7512: tests/cli/check_assemble.sh). Two
-- warpgroups share it.
-- bad: one
-- good: two
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local groups = kit.is "one" and 1 or 2
local A, B = wg.tile { dtype = "bf16", mn = 256, k = 64, major = "K" }, wg.tile { dtype = "bf16", mn = 128, k = 64, major = "K" }

local kernel = wg.kernel("tile", { threads = 128 * groups }, function(k)
  local D = k:param("D", "f32*")
  local a, b = k:shared(A, "a"), k:shared(B, "b")
  local thread, words = k:special "tid.x", kit.words(k)
  for _, buffer in ipairs { a, b } do
    local at = kit.mine(k, buffer)
    for offset = 0, buffer.bytes - 1, 2048 * groups do k:st_shared_v4_b32(at, words, { offset = offset }) end
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local rows = 4 // groups
  local first = k:mad_wide_u32(thread >> 7, rows * 64 * 128 >> 4, k:descriptor(a))
  local acc = {}
  for i = 1, rows do acc[i] = k:regs("f32", 64) end
  k:wgmma_fence()
  for kstep = 0, 3 do
    for i = 1, rows do
      local da = k:add_u64(first, ((i - 1) * 64 * 128 + 32 * kstep) >> 4)
      k:wgmma_mma_async(acc[i], da, k:descriptor(b, { kstep = kstep }), { n = 128, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = math.min(kstep, 1) }) -- EXPECT: WG-REG-04
    end
  end
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  local out = k:mad_wide_u32(thread, 4, D)
  for i = 1, rows do
    for r = 0, 63 do k:st_global_f32(out, acc[i][r], { offset = 512 * groups * (64 * (i - 1) + r) }) end
  end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 256 * 128 }) } }
