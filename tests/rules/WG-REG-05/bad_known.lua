-- WG-REG-05, broken on every path where the divisor is known, whatever a launch is given.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local thread = k:special "tid.x"
  local at = k:element(X, thread)
  k:if_(n:gt(100), function()
    local none = k:mov(0, { type = "u32" })
    k:st_global_u32(at, k:rem_u32(thread, none)) -- EXPECT: WG-REG-05
  end)
  k:loop(2, function(i) k:st_global_u32(at, k:div_u32(thread, i)) end) -- EXPECT: WG-REG-05
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32), 0 } }
