-- WG-GROUP-06, kept: A CTA ends after every cp.async of its threads has been waited for: by the thread itself, or with the mbarrier that it has told.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local S = k:shared{bytes=4096, name="S"}
  local thread = k:special "tid.x"
  local here = k:mad_lo_u32(thread, 16, k:mov(S, {type="u32"}))
  k:cp_async_cg(here, k:element(X, thread * 4))
  k:cp_async_commit_group()
  k:cp_async_cg(here + 2048, k:element(X, thread * 4))
  k:cp_async_commit_group()
  k:cp_async_wait_group(0)
  k:st_global_f32(k:element(X, thread + 512), k:ld_shared_f32(here) + k:ld_shared_f32(here + 2048))
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 640 }) } }
