-- Each lane's membermask names its own group of eight, as the tiles of cooperative groups do; half of the groups sit out.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, S = k:param("Y", "u32*"), k:shared { bytes = 256, align = 16, name = "S" }
  local thread, lane = k:special "tid.x", k:special "laneid"
  local mask = k:shl_b32(k:mov(0xFF, { type = "u32" }), lane & 24)
  local at = k:mad_lo_u32(thread, 4, k:mov(S, { type = "u32" }))
  k:if_((lane & 8):eq(0), function()
    local sum = k:redux_sync_add_u32(thread, { membermask = mask })
    for _, step in ipairs { 4, 2, 1 } do sum = sum + k:shfl_sync_bfly(thread, step, 31, { membermask = mask }) end
    k:st_shared_u32(at, sum)
    k:bar_warp_sync(mask)
    local other = k:ld_shared_u32(k:mad_lo_u32(thread ~ 7, 4, k:mov(S, { type = "u32" })))
    k:if_(k:elect_sync(mask), function() k:st_global_u32(k:element(Y, thread >> 3), other) end)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", 8) } }
