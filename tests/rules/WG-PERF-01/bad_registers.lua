-- WG-PERF-01, broken by accumulators that do not fit: The wgmma of a kernel overlap: the assembler does not serialise them.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }
local wide = wg.tile { dtype = "bf16", mn = 256, k = 64, major = "K" }
local kernel = wg.kernel("case", { threads = 384 }, function(k) -- EXPECT ASSEMBLED: WG-PERF-04
  local X = k:param("X", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(wide, "b")
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, tile_of in ipairs { a, b } do
    local at = k:mad_lo_u32(thread, 16, k:mov(tile_of, { type = "u32" }))
    k:if_(thread:lt(128), function()
      for i = 0, tile_of.bytes - 1, 2048 do k:st_shared_v4_b32(at, zero, { offset = i }) end
    end)
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  local p, q = k:regs("f32", 80), k:regs("f32", 80)
  for i = 0, 79 do
    k:mov(p[i], 1)
    k:mov(q[i], 1)
  end
  k:loop(k:special "nctaid.x", function()
    k:wgmma_fence()
    k:wgmma_mma_async(p, da, db, {n=160, k=16, d="f32", a="bf16", b="bf16"}) -- EXPECT ASSEMBLED: WG-PERF-01
    k:wgmma_mma_async(q, da, db, {n=160, k=16, d="f32", a="bf16", b="bf16"})
    k:wgmma_commit_group()
    k:wgmma_wait_group(0)
  end)
  for i = 0, 79 do k:st_global_f32(k:element(X, thread), p[i] + q[i]) end
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4096 }) } }
