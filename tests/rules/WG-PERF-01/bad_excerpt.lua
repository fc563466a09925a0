-- WG-PERF-01, broken: The wgmma of a kernel overlap: the assembler does not serialise them.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local X = k:param("X", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local zero, thread = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  for _, tile_of in ipairs { a, b } do
    local at = k:mad_lo_u32(thread, 16, k:mov(tile_of, { type = "u32" }))
    for i = 0, tile_of.bytes // 16 // 256 - 1 do k:st_shared_v4_b32(at, zero, { offset = 256 * 16 * i }) end
  end
  k:fence_proxy_async()
  k:bar_sync(0)
  local da, db = k:descriptor(a), k:descriptor(b)
  local acc = k:regs("f32", 32)
  for i = 0, 31 do k:mov(acc[i], 0) end
  local group = k:special "tid.x" >> 7
  k:if_(group:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"}) -- EXPECT ASSEMBLED: WG-PERF-01
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(X, thread), acc[0])
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 4096 }) } }
