-- WG-MEM-04, kept: what was discarded is written again before it is read; its neighbours have values all the time.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, Y = k:param("X", "u32*"), k:param("Y", "u32*")
  local thread = k:special "tid.x"
  k:discard_global_L2(k:element(X, 32), { guard = thread:eq(0) })
  k:bar_sync(0)
  local beside = k:ld_global_u32(k:element(X, thread))
  k:st_global_u32(k:element(X, thread + 32), beside)
  k:bar_sync(0)
  k:st_global_u32(k:element(Y, thread), k:ld_global_u32(k:element(X, (thread ~ 1) + 32)))
end)
local X, Y = wg.zeros("u32", 64), wg.zeros("u32", 32)
kernel:run { grid = { 1 }, args = { X, Y } }

