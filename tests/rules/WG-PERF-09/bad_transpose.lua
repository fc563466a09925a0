-- WG-PERF-09, broken by a transpose without shared memory, whose rows are as long as a launch says.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 256 }, function(k)
  local X, Y, m, n = k:param("X", "const f32*"), k:param("Y", "f32*"), k:param("m", "u32"), k:param("n", "u32")
  local thread = k:special "tid.x"
  local row, column = k:special "ctaid.y" * 8 + (thread >> 5), k:special "ctaid.x" * 32 + (thread & 31)
  k:if_(row:lt(m) & column:lt(n), function()
    local x = k:ld_global_f32(k:element(X, row * n + column))
    k:st_global_f32(k:element(Y, column * m + row), x) -- EXPECT PERF: WG-PERF-09
  end)
end)
kernel:run { grid = { 2, 4 }, args = { wg.zeros("f32", { 32, 64 }), wg.zeros("f32", { 64, 32 }), 32, 64 } }
