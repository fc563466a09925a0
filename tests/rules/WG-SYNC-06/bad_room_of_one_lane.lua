-- WG-SYNC-06, broken: as bad_room, but one lane of a CTA polls, and the others wait for it at a barrier.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local count, D, n = k:param("count", "u32*"), k:param("D", "u32*"), k:param("n", "u32")
  k:shared { bytes = 200 * 1024, align = 128, name = "s" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:red_release_gpu_global_add_u32(count, 1)
    k:while_(function() return k:ld_acquire_gpu_global_u32(count):lt(n) end, function() end) -- EXPECT IN RUN: WG-SYNC-06
  end)
  k:bar_sync(0)
  k:st_global_u32(k:element(D, k:special "ctaid.x" * 64 + thread), thread)
end)
kernel:run { grid = { 133 }, args = { wg.zeros("u32", { 1 }), wg.zeros("u32", { 133 * 64 }), 133 } }
