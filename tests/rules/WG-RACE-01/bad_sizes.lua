-- Atomics of two sizes on one place: they overlap in part, so that they are not morally strong (PTX ISA 8.7).
-- No call mends it: the accesses are to be of one size.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y = k:param("Y", "u64*")
  local S = k:shared { bytes = 8, align = 8, name = "S" }
  local thread, at = k:special "tid.x", k:mov(S, { type = "u32" })
  k:st_shared_u64(at, 0, { guard = thread:eq(0) })
  k:bar_sync(0)
  k:if_(thread:eq(0), function()
    k:red_shared_add_u32(at, 1) -- EXPECT: WG-RACE-01
  end)
  k:if_(thread:eq(32), function() k:atom_shared_add_u64(at, 1) end)
  k:bar_sync(0)
  k:st_global_u64(k:element(Y, thread), k:ld_shared_u64(at))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u64", 64) } }
