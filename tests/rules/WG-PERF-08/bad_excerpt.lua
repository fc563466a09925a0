-- WG-PERF-08, broken: Products of 8-bit floats are those of wgmma.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local D, thread = k:param("D", "f32*"), k:special "tid.x"
  local a, b, c = k:regs("b32", 4), k:regs("b32", 2), k:regs("f32", 4)
  for i = 0, 3 do k:mov(a[i], thread) k:mov(c[i], 0.0) end
  for i = 0, 1 do k:mov(b[i], thread) end
  k:mma_sync(c, a, b, c, { d = "f32", a = "e4m3", b = "e4m3" }) -- EXPECT PERF: WG-PERF-08
  k:st_global_f32(k:element(D, thread), c[0])
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
