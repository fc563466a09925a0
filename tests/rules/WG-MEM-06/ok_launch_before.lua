-- WG-MEM-06, kept: weights that no launch writes, before griddepcontrol.wait and behind it; what the launch before writes by ld.global; what a
-- launch has written that has ended.
local wg = require "wgrun"

local first = wg.kernel("first", { threads = 64 }, function(k)
  local X = k:param("X", "f32*")
  k:griddepcontrol_launch_dependents()
  k:st_global_f32(k:element(X, k:special "tid.x"), 1.0)
end)
local second = wg.kernel("second", { threads = 64 }, function(k)
  local X, W, Y, thread = k:param("X", "const f32*"), k:param("W", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  local weight = k:ld_global_nc_f32(k:element(W, thread))
  k:griddepcontrol_wait()
  weight = weight + k:ld_global_nc_f32(k:element(W, thread + 64))
  k:st_global_f32(k:element(Y, thread), k:ld_global_f32(k:element(X, thread)) * weight)
end)
local whole = wg.kernel("whole", { threads = 64 }, function(k)
  local X, Y, thread = k:param("X", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  k:st_global_f32(k:element(Y, thread), k:ld_global_nc_f32(k:element(X, thread)))
end)
local X, W, Y, Z = wg.zeros("f32", { 64 }), wg.full("f32", { 128 }, 1.0), wg.zeros("f32", { 64 }), wg.zeros("f32", { 64 })
local a, b = first:prepare { grid = { 1 }, args = { X } }, second:prepare { grid = { 1 }, args = { X, W, Y } }
local c = whole:prepare { grid = { 1 }, args = { X, Z } } -- has no griddepcontrol: begins when the others have ended
a:start()
b:start()
c:start()
c:wait()
b:download()
assert(Y:totable()[1] == 2.0)
-- It has been waited for.
local tail = wg.kernel("tail", { threads = 64 }, function(k)
  local X, Y, thread = k:param("X", "const f32*"), k:param("Y", "f32*"), k:special "tid.x"
  k:griddepcontrol_wait()
  k:st_global_f32(k:element(Y, thread), k:ld_global_nc_f32(k:element(X, thread)))
end)
a:start()
a:wait()
tail:run { grid = { 1 }, args = { X, Z } }
