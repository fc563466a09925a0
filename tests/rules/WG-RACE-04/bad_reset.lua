-- The last of the relaxed atomics is known by its value, and nothing makes the store come after the others.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local C = k:param("C", "u32*")
  k:if_((k:special "tid.x" & 31):eq(0), function()
    local old = k:atom_global_add_u32(C, 1)
    k:if_(old:eq(1), function() k:st_global_u32(C, 0) end) -- EXPECT IN RUN: WG-RACE-04
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 1) } }
