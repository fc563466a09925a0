-- Handed over by atomics alone, twice: the second value is written before anybody says that the first has been read. The last
-- accesses are in order.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, C, Y = k:param("X", "u32*"), k:param("C", "u32*"), k:param("Y", "u32*")
  local cta, add = k:special "ctaid.x", { sem = "acq_rel.gpu" }
  k:if_(k:special "laneid":eq(0), function()
    k:if_(cta:eq(0), function()
      for value = 7, 8 do
        k:st_global_u32(X, value) -- EXPECT IN RUN: WG-RACE-04
        k:atom_global_add_u32(C, 1, add)
      end
    end, function()
      for round = 1, 2 do
        k:while_(function() return k:atom_global_add_u32(C, 0, add):lt(round) end, function() end)
        k:st_global_u32(k:element(Y, cta), k:ld_global_u32(X))
      end
    end)
  end)
end)
kernel:run { grid = { 3 }, args = { wg.zeros("u32", 1), wg.zeros("u32", 1), wg.zeros("u32", 3) } }
