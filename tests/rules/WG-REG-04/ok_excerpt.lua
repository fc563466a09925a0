-- WG-REG-04, kept: The values that are alive at a wgmma fit into the registers of its threads, and 26 are left besides its own.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local out = k:param("out", "f32*")
  local A = k:shared(wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }, "A")
  local B = k:shared(wg.tile { dtype = "bf16", mn = 256, k = 64, major = "K" }, "B")
  for _, tile in ipairs { A, B } do
    local first = k:mad_lo_u32(k:special "tid.x", 16, k:address(tile))
    local zero = k:mov(0, { type = "b32" })
    for at = 0, tile.bytes - 1, 128 * 16 do k:st_shared_v4_b32(first + at, { zero, zero, zero, zero }) end
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(A), k:descriptor(B)
  local upper, lower = k:regs("f32", 96), k:regs("f32", 96)
  local form = { n = 192, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 }
  k:wgmma_fence()
  k:wgmma_mma_async(upper, da, db, form)
  k:wgmma_mma_async(lower, da, db, form)
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  local sum = k:mov(0, { type = "f32" })
  for i = 0, 95 do
    k:add(sum, sum, upper[i])
    k:add(sum, sum, lower[i])
  end
  k:st_global_f32(k:mad_wide_u32(k:special "tid.x", 4, out), sum)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 128 }) } }
