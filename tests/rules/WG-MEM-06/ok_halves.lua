-- WG-MEM-06, kept: one half of the tensor is read through ld.global.nc, the other half is written.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, thread = k:param("X", "f32*"), k:special "tid.x"
  k:st_global_f32(k:element(X, thread + 128), k:ld_global_nc_f32(k:element(X, thread)))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 256 }) } }
