-- WG-GROUP-04, broken: What a cp.async copies is not accessed before a cp.async.wait_group that covers its group, by the threads that copy, and a barrier for the others.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared{bytes=2048, name="S"}
  local thread = k:special "tid.x"
  local start = k:mov(S, {type="u32"})
  local here, next = k:mad_lo_u32(thread, 16, start), k:mad_lo_u32(k:xor(thread, 1), 16, start)
  k:cp_async_cg(here, k:element(X, thread * 4))
  k:cp_async_commit_group()
  k:bar_sync(0)
  local x = k:ld_shared_f32(next) -- EXPECT IN RUN: WG-GROUP-04 -- EXPECT: WG-GROUP-04
  k:bar_sync(0)
  k:cp_async_wait_group(0)
  k:st_global_f32(k:element(X, thread + 512), x)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 640 }) } }
