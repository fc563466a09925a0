-- The atomics release and acquire: the last of them comes after all.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local C = k:param("C", "u32*")
  k:if_((k:special "tid.x" & 31):eq(0), function()
    local old = k:atom_global_add_u32(C, 1, { sem = "acq_rel.gpu" })
    k:if_(old:eq(1), function() k:st_global_u32(C, 0) end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 1) } }
