-- WG-RACE-04, broken: both CTAs add to the same elements. That the sums are equal here, since nothing is added, does not excuse it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y = k:param("X", "const u32*"), k:param("Y", "u32*")
  local thread = k:special "tid.x"
  local y = k:element(Y, thread)
  k:st_global_u32(y, k:ld_global_u32(y) + k:ld_global_u32(k:element(X, thread))) -- EXPECT: WG-RACE-04 -- EXPECT IN RUN: WG-RACE-04
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 32 }), wg.zeros("u32", { 32 }) } }
