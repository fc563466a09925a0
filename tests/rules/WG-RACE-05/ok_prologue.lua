-- WG-RACE-05, kept: before griddepcontrol.wait only what nobody writes is read; a warp that does not wait learns of it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local X, Y, W = k:param("X", "f32*"), k:param("Y", "f32*"), k:param("W", "const f32*")
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local thread = k:special "tid.x"
  k:mbarrier_init(full, 32, { guard = thread:eq(0) })
  local w = k:ld_global_f32(k:element(W, thread))
  k:bar_sync(0)
  k:if_((thread >> 5):eq(0), function()
    k:griddepcontrol_wait()
    k:st_global_f32(k:element(Y, thread), w)
    k:mbarrier_arrive(full)
  end, function()
    k:mbarrier_wait(full, 0)
    local x = k:ld_global_f32(k:element(X, thread))
    k:st_global_f32(k:element(X, thread), x + w)
  end)
  k:st_global_f32(k:element(Y, thread), w)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", 64), wg.zeros("f32", 64), wg.zeros("f32", 64) } }
