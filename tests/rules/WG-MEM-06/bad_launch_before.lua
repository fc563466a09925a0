-- WG-MEM-06, broken: the launch before writes it and may still run; griddepcontrol.wait does not order what goes through ld.global.nc.
local wg = require "wgrun"

local first = wg.kernel("first", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  k:griddepcontrol_launch_dependents()
  k:st_global_f32(k:element(X, k:special "tid.x"), 1.0)
end)
local second = wg.kernel("second", { threads = 64 }, function(k)
  local X, Y, thread = k:param("X", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  local early = k:ld_global_nc_f32(k:element(X, thread)) -- EXPECT IN RUN: WG-MEM-06
  k:griddepcontrol_wait()
  local late = k:ld_global_nc_f32(k:element(X, thread)) -- EXPECT IN RUN: WG-MEM-06
  local beside = k:ld_global_nc_f32(k:element(X, thread + 64))
  k:st_global_f32(k:element(Y, thread), early + late + beside)
end)
local X, Y = wg.zeros("f32", { 128 }), wg.zeros("f32", { 64 })
local a, b = first:prepare { grid = { 1 }, args = { X } }, second:prepare { grid = { 1 }, args = { X, Y } }
a:start()
b:start()
b:wait()
