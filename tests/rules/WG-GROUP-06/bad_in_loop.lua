-- WG-GROUP-06, broken: the loop copies one stage more than it waits for.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local n = k:param("n", "u32")
  local S = k:shared{bytes=4096, name="S"}
  local thread = k:special "tid.x"
  local here = k:mad_lo_u32(thread, 16, k:mov(S, {type="u32"}))
  k:loop(n, function(i)
    k:bar_sync(0)
    k:cp_async_cg(here + (i & 1) * 2048, k:element(X, thread * 4)) -- EXPECT: WG-GROUP-06 -- EXPECT IN RUN: WG-GROUP-06
    k:cp_async_commit_group()
    k:cp_async_wait_group(1)
  end)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 512 }), 3 } }
