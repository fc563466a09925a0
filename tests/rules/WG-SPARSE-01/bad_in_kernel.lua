-- WG-SPARSE-01, broken in a kernel: what the simulator reads as metadata.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile_a = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K" }
local tile_b = wg.tile { dtype = "bf16", mn = 64, k = 32, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
  kit.fill(k, { a, b })
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  local metadata = k:mov(0x44444440, { type = "b32" })
  k:wgmma_fence()
  k:wgmma_mma_async_sp(acc, da, db, metadata, { n = 64, d = "f32", a = "bf16", b = "bf16", sp_sel = 0, scale_d = 0 }) -- EXPECT IN RUN: WG-SPARSE-01 -- EXPECT: WG-SPARSE-01
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(k:param("D", "f32*"), k:special "ctaid.x" * 128 + k:special "tid.x"), acc[0])
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", 256) } }
