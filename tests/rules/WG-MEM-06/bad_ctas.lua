-- WG-MEM-06, broken: another CTA writes what this one reads, and a release and an acquire order the two.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local X, flag, Y = k:param("X", "u32*"), k:param("flag", "u32*"), k:param("Y", "u32*")
  local thread, cta = k:special "tid.x", k:special "ctaid.x"
  k:if_(cta:eq(0), function()
    k:st_global_u32(k:element(X, thread), thread)
    k:bar_sync(0)
    k:st_release_gpu_global_u32(k:element(flag, 0), 1, { guard = thread:eq(0) })
  end, function()
    k:while_(function() return k:ld_acquire_gpu_global_u32(k:element(flag, 0)):ne(1) end, function() end)
    local x = k:ld_global_nc_u32(k:element(X, thread)) -- EXPECT IN RUN: WG-MEM-06
    k:st_global_u32(k:element(Y, thread), x)
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 32 }), wg.zeros("u32", { 1 }), wg.zeros("u32", { 32 }) } }
