-- One lane looks for a value that is written behind the barrier, to which the others of its warp come.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, thread = k:param("Y", "u32*"), k:special "tid.x"
  local flag = k:shared { bytes = 4, name = "flag" }
  k:st_shared_u32(flag, 0, { guard = thread:eq(0) })
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    k:while_(function() return k:ld_acquire_cta_shared_u32(flag):eq(0) end, function() end)
  end)
  k:bar_sync(0) -- EXPECT IN RUN: WG-SYNC-01
  k:st_release_cta_shared_u32(flag, 1, { guard = thread:eq(32) })
  k:st_global_u32(k:element(Y, thread), 1)
end)
kernel:run { args = { wg.zeros("u32", 64) } }
