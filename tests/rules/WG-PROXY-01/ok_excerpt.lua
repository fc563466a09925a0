-- WG-PROXY-01, kept: A fence.proxy.async stands between a generic-proxy write to shared memory and a wgmma that reads it.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  kit.fill(k, { a, b })
  local to_b = k:mad_lo_u32(k:special "tid.x", 16, k:mov(b, { type = "u32" }))
  local words = k:regs("b32", 4)
  for i = 0, 3 do k:mov(words[i], 0) end
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  k:st_shared_v4_b32(to_b, words)
  k:fence_proxy_async{space="shared::cta"}
  k:bar_sync(0)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = {} }
