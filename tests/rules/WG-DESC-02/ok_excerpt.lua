-- WG-DESC-02, kept: The M or N rows and the K step that a wgmma reads lie inside the tile and start on an 8-row group.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local acc, da, db = kit.operands(k)
  local B = k:shared(wg.tile{dtype="bf16", mn=64, k=64, major="K"}, "B")
  kit.fill(k, { B })
  local db = k:descriptor(B)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
