-- WG-DESC-02, broken in a run: the second stage starts 8192 bytes into the ring.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local stride = k:param("stride", "u32")
  local stages = k:shared { tile = tile, count = 2, name = "stages" }
  kit.fill(k, { stages })
  local descriptor = k:descriptor(stages) + k:cvt_u64_u32(stride >> 4)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, descriptor, k:descriptor(stages), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT: WG-DESC-02 -- EXPECT IN RUN: WG-DESC-02
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { 8704 } }
