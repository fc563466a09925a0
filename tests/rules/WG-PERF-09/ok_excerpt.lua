-- WG-PERF-09, kept: The lanes of a warp that access global memory together use most of each sector that they touch.
-- PERF
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, Y, Z, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("Z", "f32*"), k:param("n", "u32")
  local thread = k:special "tid.x"
  local lane, warp = thread & 31, thread >> 5
  -- A row; one word for all lanes; rows of warps that are n elements apart; places that memory has.
  local x = k:ld_global_f32(k:element(X, thread)) + k:ld_global_f32(k:element(X, warp)) + k:ld_global_f32(k:element(X, warp * n + lane))
  x = x + k:ld_global_f32(k:element(X, k:ld_global_u32(k:element(X, thread)) * 64))
  -- Pairs of an accumulator fill their sectors; one lane of a warp has one.
  k:st_global_v2_f32(k:element(Y, (thread >> 2) * 32 + (thread & 3) * 2), { x, x })
  k:st_global_f32(k:element(Z, thread * 64), x, { guard = lane:eq(0) })
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 64, 64 }), wg.zeros("f32", { 64, 64 }), wg.zeros("f32", { 64, 64 }), 32 } }
