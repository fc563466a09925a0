-- WG-TRAP-01, broken: No thread of a kernel executes trap, and its assertions hold.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local n = k:mov(100, { type = "u32" })
  local x = k:special "tid.x"
  local i = k:mad_lo_u32(n, 64, x)
  k:assert(i:lt(4096), "i = %u", i) -- EXPECT IN RUN: WG-TRAP-01 -- EXPECT: WG-TRAP-01
end)
kernel:run { grid = { 1 }, args = {} }
