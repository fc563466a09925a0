-- Read before the flag is acquired.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, F, Y, lane = k:param("X", "u32*"), k:param("F", "u32*"), k:param("Y", "u32*"), k:special "laneid"
  k:if_(k:special("ctaid.x"):eq(0), function()
    k:st_global_u32(k:element(X, lane), 3)
    k:bar_warp_sync()
    k:st_release_gpu_global_u32(k:element(F, 0), 1, { guard = lane:eq(0) })
  end, function()
    local x = k:ld_global_u32(k:element(X, lane)) -- EXPECT: WG-RACE-04
    k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(F, 0)):eq(0) end, function() end)
    k:st_global_u32(k:element(Y, lane), x)
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 32), wg.zeros("u32", 1), wg.zeros("u32", 32) } }
