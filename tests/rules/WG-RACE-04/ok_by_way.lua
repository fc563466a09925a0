-- WG-RACE-04, kept: what a CTA releases a later one acquires by way of another CTA.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, F, Y = k:param("X", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*")
  local lane, cta = k:special "laneid", k:special "ctaid.x"
  k:if_(cta:eq(0), function() k:st_global_u32(k:element(X, lane), 7) end)
  k:if_(cta:gt(0), function()
    k:if_(lane:eq(0), function()
      k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, cta - 1)):eq(0) end, function() end)
    end)
    k:bar_warp_sync()
  end)
  k:if_(cta:eq(3), function() k:st_global_u32(k:element(Y, lane), k:ld_global_u32(k:element(X, lane ~ 1))) end)
  k:bar_warp_sync()
  k:st_release_gpu_global_u32(k:element(F, cta), 1, { guard = lane:eq(0) })
end)
kernel:run { grid = { 4 }, args = { wg.zeros("u32", 32), wg.zeros("u32", 4), wg.zeros("u32", 32) } }
