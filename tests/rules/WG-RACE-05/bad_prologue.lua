-- WG-RACE-05, broken: what the kernel writes after griddepcontrol.wait it reads before, and what it reads after it it clears before.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, Y, W = k:param("X", "f32*"), k:param("Y", "f32*"), k:param("W", "const f32*")
  local thread = k:special "tid.x"
  local w = k:ld_global_f32(k:element(W, thread))
  k:bar_sync(0)
  local x = k:ld_global_f32(k:element(X, thread)) -- EXPECT: WG-RACE-05
  k:st_global_f32(k:element(Y, thread), 0.0) -- EXPECT: WG-RACE-05
  k:griddepcontrol_wait()
  k:bar_sync(0)
  k:st_global_f32(k:element(X, thread), x + w)
  k:red_global_add_f32(k:element(Y, thread), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 128), wg.zeros("f32", 128), wg.zeros("f32", 128) } }
