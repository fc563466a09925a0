-- WG-RACE-05, broken: A launch that may begin before the previous one has ended executes griddepcontrol.wait before it accesses what the previous launch writes, and before it writes what that launch reads after griddepcontrol.launch_dependents.
local wg = require "wgrun"

local first = wg.kernel("first", { threads = 128 }, function(k)
  local at = k:element(k:param("X", "f32*"), k:special "tid.x")
  k:griddepcontrol_launch_dependents()
  k:st_global_f32(at, 1.0)
end)
local second = wg.kernel("second", { threads = 128 }, function(k)
  local at = k:element(k:param("X", "f32*"), k:special "tid.x")
  local x = k:ld_global_f32(at) -- EXPECT IN RUN: WG-RACE-05 -- EXPECT: WG-RACE-05
  k:griddepcontrol_wait()
  k:st_global_f32(at, x + 1.0)
end)
local X = wg.zeros("f32", { 128 })
local a, b = first:prepare { grid = { 1 }, args = { X } }, second:prepare { grid = { 1 }, args = { X } }
a:start()
b:start()
b:wait()
