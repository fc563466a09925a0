# k:exit before what a warp does together, and not at once: lanes that have ended need not come to a barrier.
file missing.lua <<'L'
local wg = require "wgrun"
return wg.kernel("missing", { threads = 64 }, function(k)
  local out = k:param("out", "u32*")
  local tid = k:special "tid.x"
  k:if_(tid:lt(8), function() k:st_global_u32(k:element(out, tid), 8) k:exit() end)
  k:bar_sync(0)
  k:st_global_u32(k:element(out, tid), tid)
end)
L
run check missing.lua
exits 1
err_has 'missing.lua:6: error: all threads of the warp execute bar.sync together, but some have left at a branch before it'
