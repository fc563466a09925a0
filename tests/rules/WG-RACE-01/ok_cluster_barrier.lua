-- WG-RACE-01, kept: the barrier of the cluster stands between the writes and the wgmma.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local zero = k:regs("b32", 4)
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, buffer in ipairs { a, b } do
    local at = k:mad_lo_u32(k:special "tid.x", 16, k:mov(buffer, { type = "u32" }))
    for i = 0, 3 do k:st_shared_v4_b32(at, zero, { offset = 2048 * i }) end
  end
  k:fence_proxy_async { space = "shared::cta" }
  k:barrier_cluster_arrive()
  k:barrier_cluster_wait()
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
