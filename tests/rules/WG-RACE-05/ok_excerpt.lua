-- WG-RACE-05, kept: A launch that may begin before the previous one has ended executes griddepcontrol.wait before it accesses what the previous launch writes, and before it writes what that launch reads after griddepcontrol.launch_dependents.
local wg = require "wgrun"

-- Reads what the first does not write, before the wait, and what it writes after another warp has waited.
local first = wg.kernel("first", { threads = 128 }, function(k)
  local X, Y, thread = k:param("X", "f32*"), k:param("Y", "const f32*"), k:special "tid.x"
  local y = k:ld_global_f32(k:element(Y, thread))
  k:bar_sync(0) -- one thread speaks for its CTA
  k:griddepcontrol_launch_dependents()
  k:st_global_f32(k:element(X, thread), y)
end)
local second = wg.kernel("second", { threads = 128 }, function(k)
  local X, Y, thread = k:param("X", "f32*"), k:param("Y", "f32*"), k:special "tid.x"
  local y = k:ld_global_f32(k:element(Y, thread))
  k:st_global_f32(k:element(Y, thread), y + 1.0) -- read there before launch_dependents
  k:if_(thread:lt(32), function() k:griddepcontrol_wait() end)
  k:bar_sync(0)
  k:st_global_f32(k:element(X, thread), y + 1.0)
end)
local eager = wg.kernel("eager", { threads = 128 }, function(k)
  local at = k:element(k:param("X", "f32*"), k:special "tid.x")
  k:st_global_f32(at, k:ld_global_f32(at))
end)
local X, Y = wg.zeros("f32", { 128 }), wg.zeros("f32", { 128 })
local function launch(kernel, ...) return kernel:prepare { grid = { 1 }, args = { ... } } end
local a, b, c = launch(first, X, Y), launch(second, X, Y), launch(eager, X)
a:start()
b:start()
c:start() -- has no griddepcontrol: begins when the others have ended
a:start()
a:wait()
c:start()
b:download()
