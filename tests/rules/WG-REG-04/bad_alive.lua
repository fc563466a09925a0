-- WG-REG-04, broken: 48 values stay in registers while a role with 144 multiplies.
local wg = require "wgrun"

local t = wg.tile { dtype = "bf16", mn = 256, k = 16, major = "K", swizzle = "none" }
local kernel = wg.kernel("case", { threads = 384 }, function(k)
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
  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(24)
  end, function()
    k:setmaxnreg_dec(144)
    local values = {}
    local at = k:mad_wide_u32(thread, 4, out)
    for i = 1, 48 do values[i] = k:ld_global_f32(at, { offset = 1536 * i }) end
    k:bar_sync(1, { threads = 256 })
    local acc = k:regs("f32", 100)
    k:wgmma_fence()
    k:wgmma_mma_async(acc, k:descriptor(tile), k:descriptor(tile), { n = 200, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }) -- EXPECT: WG-REG-04
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
    for i = 1, 48 do k:st_global_f32(at, k:add(values[i], acc[i]), { offset = 1536 * i }) end
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 384 * 49 }) } }
