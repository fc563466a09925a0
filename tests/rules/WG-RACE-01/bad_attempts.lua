-- WG-RACE-01, broken: ten attempts to wait may all come before the phase is complete.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 64 }, function(k)
  local Y, thread = k:param("Y", "u32*"), k:special "tid.x"
  local full = k:shared { bytes = 8, align = 8, name = "full" }
  local data = k:shared { bytes = 128, align = 16, name = "data" }
  k:mbarrier_init(full, 32, { guard = thread:eq(0) })
  k:bar_sync(0)
  k:if_(thread:lt(32), function()
    k:st_shared_u32(k:address(data, thread * 4), thread)
    k:mbarrier_arrive(full)
  end, function()
    local tries = k:mov(0, { type = "u32" })
    k:while_(function() return tries:lt(10) end, function()
      k:if_(k:mbarrier_try_wait_parity(full, 0), function() tries:set(10) end)
      tries:set(tries + 1)
    end)
    k:st_global_u32(k:element(Y, thread), k:ld_shared_u32(k:address(data, (thread - 32) * 4))) -- EXPECT IN RUN: WG-RACE-01
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("u32", { 64 }) }, seed = 1 }
