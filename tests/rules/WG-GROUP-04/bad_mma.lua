-- WG-GROUP-04, broken: a barrier does not wait for copies.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 16, major = "K", swizzle = "none" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "bf16*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local thread = k:special "tid.x"
  for _, t in ipairs { a, b } do
    k:cp_async_cg(k:mad_lo_u32(thread, 16, k:mov(t, { type = "u32" })), k:element(X, thread * 8))
    k:cp_async_commit_group()
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local acc = k:regs("f32", 32)
  k:wgmma_fence()
  k:wgmma_mma_async(acc, k:descriptor(a), k:descriptor(b), {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0}) -- EXPECT: WG-GROUP-04
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:cp_async_wait_all()
end)
kernel:run { grid = { 1 }, args = { wg.zeros("bf16", { 1024 }) } }
