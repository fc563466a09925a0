-- WG-GROUP-06, broken: the mbarrier is told of the copies, but nobody waits for it.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared{bytes=4096, name="S"}
  local thread = k:special "tid.x"
  local here = k:mad_lo_u32(thread, 16, k:mov(S, {type="u32"}))
  local full = k:shared{bytes=8, align=8, name="full"}
  k:if_(thread:eq(0), function()
    k:mbarrier_init(full, 128)
    k:fence_mbarrier_init()
  end)
  k:bar_sync(0)
  k:cp_async_cg(here, k:element(X, thread * 4)) -- EXPECT IN RUN: WG-GROUP-06 -- EXPECT: WG-GROUP-06
  k:cp_async_mbarrier_arrive_noinc(full)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 512 }) } }
