-- WG-RACE-04, broken: the constants are of the program, but data decides which of them each CTA writes.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y, thread = k:param("X", "const u32*"), k:param("Y", "u32*"), k:special "tid.x"
  local value = k:mov(0, { type = "u32" })
  k:if_(k:ld_global_u32(k:element(X, k:special "ctaid.x")):ne(0), function() value:set(1) end)
  k:st_global_u32(k:element(Y, thread), value) -- EXPECT IN RUN: WG-RACE-04
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 2 }), wg.zeros("u32", { 32 }) } }
