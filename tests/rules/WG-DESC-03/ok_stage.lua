-- The last stage; and a descriptor that is one of two, as a register decides: which buffer it points into is not known.
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local stage = k:param("stage", "u32")
  local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
  local a, b, c = k:shared { tile = tile, count = 3, name = "a" }, k:shared(tile, "b"), k:shared(tile, "c")
  kit.fill(k, { a, b, c })
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:mma(acc, { a = a, b = b, a_offset = stage * tile.bytes, scale_d = 0 })
  k:wgmma_wait_group(0)
  local some = k:selp(k:descriptor(b), k:descriptor(c), stage:eq(1), { type = "b64" })
  k:wgmma_fence()
  k:wgmma_mma_async(acc, some, k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { 2 } }
