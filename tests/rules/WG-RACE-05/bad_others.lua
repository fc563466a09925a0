-- What the launch before reads is overwritten; and a launch that lets the next begin before it has waited itself.
local wg = require "wgrun"

local first = wg.kernel("first", { threads = 32 }, function(k)
  local X, Y, lane = k:param("X", "f32*"), k:param("Y", "const f32*"), k:special "tid.x"
  k:griddepcontrol_launch_dependents()
  k:st_global_f32(k:element(X, lane), k:ld_global_f32(k:element(Y, lane)))
end)
local between = wg.kernel("between", { threads = 32 }, function(k)
  k:griddepcontrol_launch_dependents()
  k:griddepcontrol_wait()
end)
local last = wg.kernel("last", { threads = 32 }, function(k)
  local at = k:element(k:param("Y", "f32*"), k:special "tid.x")
  k:st_global_f32(at, 2.0) -- EXPECT IN RUN: WG-RACE-05
  k:griddepcontrol_wait()
end)
local X, Y = wg.zeros("f32", { 32 }), wg.zeros("f32", { 32 })
local launches = {
  first:prepare { grid = { 1 }, args = { X, Y } }, between:prepare { grid = { 1 }, args = {} }, last:prepare { grid = { 1 }, args = { Y } },
}
for _, launch in ipairs(launches) do launch:start() end
