-- WG-SPARSE-01, kept in a kernel.
local wg = require "wgrun"
local tile_a = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K" }
local tile_b = wg.tile { dtype = "bf16", mn = 64, k = 32, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local a, b = k:shared(tile_a, "a"), k:shared(tile_b, "b")
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, tile_of in ipairs { a, b } do
    local at = k:mad_lo_u32(thread, 16, k:mov(tile_of, { type = "u32" }))
    for i = 0, tile_of.bytes - 1, 2048 do k:st_shared_v4_b32(at, zero, { offset = i }) end
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  local metadata = k:mov(0x44444444, { type = "b32" })
  k:wgmma_fence()
  k:wgmma_mma_async_sp(acc, da, db, metadata, { n = 64, d = "f32", a = "bf16", b = "bf16", sp_sel = 0, scale_d = 0 })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
