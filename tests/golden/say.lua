-- A kernel whose threads say something: what the GPU runs of k:print, k:assert and k:trap.
local wg = require "wgrun"
wg.kernel("say", { threads = 64 }, function(k)
  local X, n = k:param("X", "f32*"), k:param("n", "u32")
  local i = k:special "tid.x"
  k:assert(i:lt(n), "i = %d of %d", i, n)
  local x = k:ld_global_f32(k:element(X, i))
  k:print("x = %g, i = %d", x, i, { guard = i:lt(2) })
  k:if_(n:gt(64), function() k:trap("n = %u, %s", n, i:lt(n)) end)
  k:print "done"
end)
