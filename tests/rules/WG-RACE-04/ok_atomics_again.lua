-- The readers say that they have read, by atomics too; the last CTA to come is known by its ticket.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, C, D, Y = k:param("X", "u32*"), k:param("C", "u32*"), k:param("D", "u32*"), k:param("Y", "u32*")
  local cta, add = k:special "ctaid.x", { sem = "acq_rel.gpu" }
  local function until_(counter, limit) k:while_(function() return k:atom_global_add_u32(counter, 0, add):lt(limit) end, function() end) end
  k:if_(k:special "laneid":eq(0), function()
    k:if_(cta:eq(0), function()
      for round = 1, 2 do
        until_(D, 2 * (round - 1))
        k:st_global_u32(X, 6 + round)
        k:atom_global_add_u32(C, 1, add)
      end
    end, function()
      for round = 1, 2 do
        until_(C, round)
        k:st_global_u32(k:element(Y, cta), k:ld_global_u32(X))
        k:atom_global_add_u32(D, 1, add)
      end
    end)
    k:fence_acq_rel_gpu()
    local ticket = k:atom_global_add_u32(k:element(Y, 3), 1)
    k:fence_acq_rel_gpu()
    k:if_(ticket:eq(2), function() k:st_global_u32(Y, k:ld_global_u32(k:element(Y, 1)) + k:ld_global_u32(k:element(Y, 2))) end)
  end)
end)
kernel:run { grid = { 3 }, args = { wg.zeros("u32", 1), wg.zeros("u32", 1), wg.zeros("u32", 1), wg.zeros("u32", 4) } }
