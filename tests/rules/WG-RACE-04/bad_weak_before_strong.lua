-- A weak load does not become a strong one by the strong load behind it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local C, Y = k:param("C", "u32*"), k:param("Y", "u32*")
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    local weak = k:ld_global_u32(C)
    k:st_global_u32(Y, weak + k:ld_relaxed_gpu_global_u32(C))
  end)
  k:if_(thread:eq(32), function() k:st_relaxed_gpu_global_u32(C, 7) end) -- EXPECT: WG-RACE-04
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 1), wg.zeros("u32", 1) } }
