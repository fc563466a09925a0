-- WG-RACE-04, broken: the parts of two warps overlap, as do those of two CTAs. All values are zeros by chance.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, Y, thread = k:param("X", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  local warp, lane, cta = thread >> 5, thread & 31, k:special "ctaid.x"
  local x = k:ld_global_f32(k:element(X, cta * 64 + thread))
  k:st_global_f32(k:element(Y, cta * 128 + warp * 31 + lane), x) -- EXPECT: WG-RACE-04 -- EXPECT IN RUN: WG-RACE-04
  k:st_global_f32(k:element(Y, 512 + cta * 63 + thread), x)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 128 }), wg.zeros("f32", { 1024 }) } }
