-- WG-RACE-04, kept: what several CTAs write to one place is a constant of the program, or a number of the launch: it cannot be another one.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, n, thread = k:param("Y", "u32*"), k:param("n", "u32"), k:special "tid.x"
  local at = k:special "ctaid.x" * 32 + thread
  k:st_global_u32(k:element(Y, at), 7)
  k:st_global_u32(k:element(Y, 512 + at), n * 2 + 1)
end)
kernel:run { grid = { 3 }, args = { wg.zeros("u32", { 1024 }), 5 } }
