-- WG-PERF-08, kept: the chip has products of integers for warps.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local D, thread = k:param("D", "s32*"), k:special "tid.x"
  local a, b, c = k:regs("b32", 4), k:regs("b32", 2), k:regs("s32", 4)
  for i = 0, 3 do k:mov(a[i], thread) k:mov(c[i], 0) end
  for i = 0, 1 do k:mov(b[i], thread) end
  k:mma_sync(c, a, b, c, { d = "s32", a = "s8", b = "s8" }) -- PERF
  k:st_global_s32(k:element(D, thread), c[0])
end)
kernel:run { grid = { 1 }, args = { wg.zeros("s32", { 32 }) } }
