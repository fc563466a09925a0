-- WG-SYNC-06, kept: the CTAs of a grid wait for each other, and the chip has room for all of them.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local count, D, n = k:param("count", "u32*"), k:param("D", "u32*"), k:param("n", "u32")
  k:shared { bytes = 200 * 1024, align = 128, name = "s" }
  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function()
    k:red_release_gpu_global_add_u32(count, 1)
    k:while_(function() return k:ld_acquire_gpu_global_u32(count):lt(n) end, function() end)
  end)
  k:bar_sync(0)
  k:st_global_u32(k:element(D, k:special "ctaid.x" * 64 + thread), thread)
end)
kernel:run { grid = { 132 }, args = { wg.zeros("u32", { 1 }), wg.zeros("u32", { 132 * 64 }), 132 } }
