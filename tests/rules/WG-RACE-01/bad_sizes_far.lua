-- Between the two accesses of other sizes come others, which are in no order with the first.
-- No call mends it: the accesses are to be of one size.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 96 }, function(k)
  local Y = k:param("Y", "u64*")
  local S, flag = k:shared { bytes = 8, align = 8, name = "S" }, k:shared { bytes = 4, align = 4, name = "flag" }
  local thread, at, set = k:special "tid.x", k:mov(S, { type = "u32" }), k:mov(flag, { type = "u32" })
  local lane, warp = thread & 31, thread >> 5
  k:if_(thread:eq(0), function()
    k:st_shared_u64(at, 0)
    k:st_shared_u32(set, 0)
  end)
  k:bar_sync(0)
  k:if_(lane:eq(0) & warp:eq(0), function() k:red_shared_add_u64(at, 1) end)
  k:if_(lane:eq(0) & warp:eq(1), function()
    k:red_shared_add_u64(at, 1)
    k:st_release_cta_shared_u32(set, 1)
  end)
  k:if_(lane:eq(0) & warp:eq(2), function()
    k:while_(function() return k:ld_acquire_cta_shared_u32(set):ne(1) end, function() end)
    k:st_global_u32(Y, k:ld_relaxed_cta_shared_u32(at)) -- EXPECT IN RUN: WG-RACE-01
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u64", 1) } }
