-- WG-RACE-04, broken: atomics whose scope does not hold the other CTA.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  local X, Y, thread = k:param("X", "u32*"), k:param("Y", "u32*"), k:special "tid.x"
  k:red_global_add_u32(k:element(X, thread), 1, { sem = "relaxed.cluster" }) -- EXPECT: WG-RACE-04 -- EXPECT IN RUN: WG-RACE-04
  k:red_global_add_u32(k:element(Y, k:special "ctaid.x"), 1, { sem = "relaxed.cta" })
end)
kernel:run { grid = { 4 }, args = { wg.zeros("u32", { 128 }), wg.zeros("u32", { 4 }) } }
