-- WG-RACE-04, broken: atomics of two CTAs of a cluster in the scope of the CTA.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32, cluster = { 2 } }, function(k)
  local X = k:param("X", "u32*")
  k:red_global_add_u32(k:element(X, k:special "ctaid.x" >> 1), 1, { sem = "relaxed.cta" }) -- EXPECT IN RUN: WG-RACE-04 -- EXPECT: WG-RACE-04
end)
kernel:run { grid = { 4 }, args = { wg.zeros("u32", { 4 }) } }
