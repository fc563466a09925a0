-- WG-REG-04, broken: 512 threads have 128 registers each, and accumulators of 104 need 130: ptxas refuses (C7602).
local wg = require "wgrun"

local t = wg.tile { dtype = "bf16", mn = 256, k = 16, major = "K", swizzle = "none" }
local kernel = wg.kernel("case", { threads = 512 }, function(k)
  local out = k:param("out", "f32*")
  local tile = k:shared(t, "tile")
  local thread = k:special "tid.x"
  local zero = k:mov(0, { type = "b32" })
  k:if_(thread:lt(128), function()
    local first = k:mad_lo_u32(thread, 16, k:address(tile))
    for at = 0, t.bytes - 1, 128 * 16 do k:st_shared_v4_b32(first + at, { zero, zero, zero, zero }) end
  end)
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", 104)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(tile), k:descriptor(tile), { n = 208, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT: WG-REG-04
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:st_global_f32(k:mad_wide_u32(thread, 4, out), acc[0])
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 512 }) } }
