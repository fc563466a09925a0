-- A kernel whose threads leave a loop, an iteration, and the kernel.
local wg = require "wgrun"
return wg.kernel("leaves", { threads = 64 }, function(k)
  local out, n = k:param("out", "u32*"), k:param("n", "u32")
  local tid = k:special "tid.x"
  local sum = k:mov_u32(0)
  k:if_(tid:ge(n), function() k:exit() end)
  k:loop(n, function(i)
    k:if_(i:eq(tid), function() k:continue_() end)
    k:if_(i:gt(20), function() k:break_() end)
    k:add(sum, sum, i)
  end)
  k:st_global_u32(k:element(out, tid), sum)
end)
