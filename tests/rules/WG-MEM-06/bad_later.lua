-- WG-MEM-06, broken: the write comes after the load, and a barrier stands between; by an atomic, too.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, Y, thread = k:param("X", "u32*"), k:param("Y", "u32*"), k:special "tid.x"
  local x = k:ld_global_nc_u32(k:element(X, thread)) + k:ld_global_nc_u32(k:element(Y, thread))
  k:bar_sync(0)
  k:st_global_u32(k:element(X, 127 - thread), x) -- EXPECT IN RUN: WG-MEM-06 -- EXPECT: WG-MEM-06
  k:red_global_add_u32(k:element(Y, thread), 1) -- EXPECT IN RUN: WG-MEM-06 -- EXPECT: WG-MEM-06
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 128 }), wg.zeros("u32", { 128 }) } }
