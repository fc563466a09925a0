-- WG-MEM-04, broken: 96 threads fill 384 bytes, and read 128 behind them; what a parameter decides does not hide it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 96 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local S = k:shared { bytes = 512, align = 16, name = "S" }
  local thread, base = k:special "tid.x", k:mov(S, { type = "u32" })
  local x = k:ld_global_u32(k:element(X, thread + n))
  k:st_shared_u32(k:mad_lo_u32(thread, 4, base), x)
  k:bar_sync(0)
  local y = k:ld_shared_u32(k:mad_lo_u32(thread + 32, 4, base)) -- EXPECT IN RUN: WG-MEM-04 -- EXPECT: WG-MEM-04
  k:st_global_u32(k:element(X, thread + n), y)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 100), 4 } }
