-- WG-FORM-05, kept: A launch gives a kernel what it declares: an argument for each parameter, of its kind, its type and its range, and the CTAs, clusters and shared memory that its text requires.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "u32*")
  local thread = k:special "tid.x"
  k:st_global_u32(k:element(X, thread), 1)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 128 }) } }
