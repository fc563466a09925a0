-- WG-MEM-04, kept: all of a thread's local memory, also with a gap that a copy of the whole takes along.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, own = k:param("X", "u32*"), k:local_ { bytes = 32 }
  k:st_local_u32(own, k:special "tid.x")
  k:st_local_u32(own + 8, 1)
  local whole = k:ld_local_v4_u32(own)
  k:st_local_v4_u32(own + 16, whole)
  k:st_global_u32(k:element(X, k:special "tid.x"), k:ld_local_u32(own + 24))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32) } }
