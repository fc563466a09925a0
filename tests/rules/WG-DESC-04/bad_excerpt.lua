-- WG-DESC-04, broken: A tile that wgmma reads starts on a multiple of its swizzle pattern: 1024 bytes for 128B, 512 for 64B, 256 for 32B, 16 without a swizzle.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local acc, da, db = kit.operands(k)
  local tile = wg.tile{dtype="bf16", mn=64, k=64, major="K", swizzle="128B"}
  k:shared{bytes=256, name="head"}
  local B = k:shared{tile=tile, align=16, name="B"} -- EXPECT: WG-DESC-04
  kit.fill(k, { B })
  local db = k:descriptor(B)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
