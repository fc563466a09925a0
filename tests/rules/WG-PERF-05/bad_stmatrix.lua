-- WG-PERF-05, broken by rows of a matrix that all start on bank 0.
local wg = require "wgrun"
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K", swizzle = "128B" }

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local S = k:shared(tile, "S")
  local zero, lane = k:regs("b32", 4), k:special "tid.x"
  for i = 0, 3 do k:mov(zero[i], 0) end
  local line = (lane & 7) << 7 -- eight lines of 128 bytes
  local at = k:mov(S, { type = "u32" }) + line
  k:stmatrix_x4(at, zero) -- EXPECT PERF: WG-PERF-05
end)
kernel:run { grid = { 1 }, args = {} }
