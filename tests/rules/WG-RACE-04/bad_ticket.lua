-- The last CTA to come is known by its ticket, and no fence makes what the others have written come before.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local C, Y = k:param("C", "u32*"), k:param("Y", "u32*")
  local cta = k:special "ctaid.x"
  k:if_(k:special "laneid":eq(0), function()
    k:st_global_u32(k:element(Y, cta), cta)
    k:fence_acq_rel_gpu()
    local ticket = k:atom_global_add_u32(C, 1, { sem = "relaxed.gpu" })
    k:if_(ticket:eq(2), function()
      k:st_global_u32(k:element(Y, 3), k:ld_global_u32(Y) + k:ld_global_u32(k:element(Y, 1))) -- EXPECT IN RUN: WG-RACE-04
    end)
  end)
end)
kernel:run { grid = { 3 }, args = { wg.zeros("u32", 1), wg.zeros("u32", 4) } }
