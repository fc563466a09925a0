-- A barrier of the grid that opens when all CTAs but one have come: the first ones go on without the last.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local C, X, Y = k:param("C", "u32*"), k:param("X", "u32*"), k:param("Y", "u32*")
  local lane, cta, ctas = k:special "laneid", k:special "ctaid.x", k:special "nctaid.x"
  k:st_global_u32(k:element(X, cta * 32 + lane), cta)
  k:bar_warp_sync()
  k:if_(lane:eq(0), function()
    k:red_release_gpu_global_add_u32(k:element(C, 0), 1)
    k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(C, 0)):lt(ctas - 1) end, function() end)
  end)
  k:bar_warp_sync()
  local other = k:ld_global_u32(k:element(X, (ctas - 1 - cta) * 32 + lane)) -- EXPECT IN RUN: WG-RACE-04
  k:st_global_u32(k:element(Y, cta * 32 + lane), other)
end)
kernel:run { grid = { 4 }, args = { wg.zeros("u32", 1), wg.zeros("u32", 128), wg.zeros("u32", 128) } }
