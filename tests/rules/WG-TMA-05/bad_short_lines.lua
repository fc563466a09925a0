-- WG-TMA-05, broken: lines of 64 bytes with the 128B swizzle, of which the wgmma reads the other half.
local wg = require "wgrun"

local t = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local A, B = k:tensor_map("A", { tile = t }), k:tensor_map("B", { dtype = "bf16", box = { 32, 64 }, swizzle = "128B" })
  local a, b = k:shared(t, "a"), k:shared(t, "b")
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local first, zero = k:special("tid.x"):eq(0), k:mov(0, { type = "s32" })
  k:if_(first, function()
    k:mbarrier_init(full, 1)
    k:fence_mbarrier_init()
    k:mbarrier_arrive_expect_tx(full, t.bytes + 4096)
    k:cp_async_bulk_tensor_2d(a, A, { zero, zero }, full)
    k:cp_async_bulk_tensor_2d(b, B, { zero, zero }, full) -- EXPECT: WG-TMA-05
  end)
  k:bar_sync(0)
  k:mbarrier_wait(full, 0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  for step = 0, 3 do
    k:wgmma_mma_async(acc, k:descriptor(a, { kstep = step }), k:descriptor(b, { kstep = step }),
      { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = step > 0 and 1 or 0 })
  end
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 64, 64 }), wg.zeros("bf16", { 64, 64 }) } }
