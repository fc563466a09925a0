-- WG-RACE-04, kept: what all threads of a CTA wrote before a barrier, one of them releases after it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, Y, count = k:param("X", "u32*"), k:param("Y", "u32*"), k:param("count", "u32*")
  local thread, cta = k:special "tid.x", k:special "ctaid.x"
  local flag = k:shared { bytes = 4, align = 4, name = "flag" }
  k:st_global_u32(k:element(X, cta * 128 + thread), thread)
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    k:st_shared_u32(k:address(flag), k:atom_global_add_u32(count, 1, { sem = "acq_rel.gpu" }))
  end)
  k:bar_sync(0)
  k:if_(k:ld_shared_u32(k:address(flag)):eq(1), function() -- the last CTA
    local both = k:ld_global_u32(k:element(X, thread)) + k:ld_global_u32(k:element(X, thread + 128))
    k:st_global_u32(k:element(Y, thread), both)
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", { 256 }), wg.zeros("u32", { 128 }), wg.zeros("u32", { 1 }) } }
