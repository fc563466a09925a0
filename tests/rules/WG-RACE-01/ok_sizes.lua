-- Sizes may change where something orders the accesses; packed halves are accesses of two bytes each (PTX ISA 8.2.3).
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, H = k:param("Y", "u64*"), k:param("H", "f16*")
  local S = k:shared { bytes = 8, align = 8, name = "S" }
  local thread, at = k:special "tid.x", k:mov(S, { type = "u32" })
  k:st_shared_u64(at, 0, { guard = thread:eq(0) })
  k:bar_sync(0)
  k:if_(thread:lt(32), function() k:red_shared_add_u32(at, 1) end)
  k:bar_sync(0)
  k:if_(thread:ge(32), function() k:atom_shared_add_u64(at, 1) end)
  k:bar_sync(0)
  k:st_global_u64(k:element(Y, k:mad_lo_u32(k:special "ctaid.x", 64, thread)), k:ld_shared_u64(at))
  k:if_(thread:lt(32), function() k:red_global_add_noftz_f16x2(H, k:mov(0, { type = "b32" })) end, function()
    k:red_global_add_noftz_f16(H, k:mov(0, { type = "b16" }))
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u64", 128), wg.zeros("f16", 2) } }
