-- The write and the read are steps of one line, as those of a library are of the line that calls it.
-- No call mends it: there is no place between the two.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, flag = k:param("Y", "u32*"), k:shared { bytes = 4, align = 16, name = "flag" }
  local counter, thread = k:param("counter", "u32*"), k:special "tid.x"
  local add = { sem = "acq_rel.gpu" }
  k:if_(thread:eq(0), function() k:st_shared_u32(flag, k:atom_global_add_u32(counter, 1, add)) end) local seen = k:ld_shared_u32(flag) -- EXPECT: WG-RACE-01
  k:st_global_u32(k:element(Y, thread), seen)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 64), wg.zeros("u32", 1) } }
