-- One lane takes the lock for its warp: by an acquire, or by a fence behind relaxed reads; the others meet it.
local wg = require "wgrun"

for _, fenced in ipairs { false, true } do
  local kernel = wg.kernel("case", { threads = 64 }, function(k)
    local L, S, lane = k:param("L", "u32*"), k:param("S", "u32*"), k:special "laneid"
    k:if_(lane:eq(0), function()
      k:repeat_(function()
        local form = { sem = fenced and "relaxed.gpu" or "acquire.gpu", space = "global", type = "b32" }
        return k:mov(k:atom_cas(k:element(L, 0), 0, 1, form), { type = "u32" }):ne(0)
      end)
      if fenced then k:fence_acq_rel_gpu() end
    end)
    k:bar_warp_sync()
    local place = k:element(S, lane)
    k:st_global_u32(place, k:ld_global_u32(place) + 1)
    k:bar_warp_sync()
    k:st_release_gpu_global_u32(k:element(L, 0), 0, { guard = lane:eq(0) })
  end)
  local S = wg.zeros("u32", 32)
  if kernel:run { grid = 3, args = { wg.zeros("u32", 1), S } } ~= "none" then assert(S[31] == 6) end
end
