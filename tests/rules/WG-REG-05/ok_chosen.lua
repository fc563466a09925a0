-- WG-REG-05, kept: the result of a division by zero is left out by selp, the division is not executed, or its divisor is an
-- argument that no launch makes zero.
local wg = require "wgrun"
local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, n = k:param("X", "u32*"), k:param("n", "u32")
  local thread = k:special "tid.x"
  local zero = thread:eq(0)
  local share = k:selp(7, k:div_u32(100, thread), zero, { type = "u32" })
  k:if_(thread:ne(0), function() k:add(share, share, k:rem_u32(100, thread)) end)
  k:st_global_u32(k:element(X, thread), share + k:div_u32(thread, n))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 32), 3 } }
