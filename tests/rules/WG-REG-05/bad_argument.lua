-- WG-REG-05, broken by a launch: its argument is the divisor. Signed, in some lanes.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "s32")
  local thread = k:special "tid.x"
  local behind = k:sub_s32(k:mov(thread, { type = "s32" }), n)
  k:if_(n:ge(3), function()
    k:st_global_u32(k:element(X, thread), k:mov(k:div_s32(100, behind), { type = "u32" })) -- EXPECT: WG-REG-05
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32), 3 } }
