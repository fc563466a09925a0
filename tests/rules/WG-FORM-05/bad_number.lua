-- WG-FORM-05, broken: a number that its type does not hold.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local thread = k:special "tid.x"
  k:st_global_u32(k:element(X, thread), n, { guard = thread:lt(32) })
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 32 }), 1 << 40 } } -- EXPECT: WG-FORM-05 -- EXPECT IN RUN: WG-FORM-05
