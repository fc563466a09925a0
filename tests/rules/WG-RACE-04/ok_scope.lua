-- WG-RACE-04, kept: each scope holds all who add.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128, cluster = { 2 } }, function(k)
  local X, Y, Z, thread = k:param("X", "u32*"), k:param("Y", "u32*"), k:param("Z", "u32*"), k:special "tid.x"
  k:red_global_add_u32(k:element(X, thread), 1, { sem = "relaxed.gpu" })
  k:red_global_add_u32(k:element(Y, k:special "ctaid.x" >> 1), 1, { sem = "relaxed.cluster" })
  k:red_global_add_u32(k:element(Z, k:special "ctaid.x"), 1, { sem = "relaxed.cta" })
end)
kernel:run { grid = { 4 }, args = { wg.zeros("u32", { 128 }), wg.zeros("u32", { 2 }), wg.zeros("u32", { 4 }) } }
