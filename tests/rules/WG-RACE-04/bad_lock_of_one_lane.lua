-- One lane takes the lock, and nothing tells the others of its warp.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local L, S, lane = k:param("L", "u32*"), k:param("S", "u32*"), k:special "laneid"
  k:if_(lane:eq(0), function()
    k:repeat_(function()
      return k:mov(k:atom_cas_acquire_gpu_global_b32(k:element(L, 0), 0, 1), { type = "u32" }):ne(0)
    end)
  end)
  local place = k:element(S, lane)
  k:st_global_u32(place, k:ld_global_u32(place) + 1) -- EXPECT IN RUN: WG-RACE-04
  k:bar_warp_sync()
  k:st_release_gpu_global_u32(k:element(L, 0), 0, { guard = lane:eq(0) })
end)
kernel:run { grid = 3, args = { wg.zeros("u32", 1), wg.zeros("u32", 32) } }
