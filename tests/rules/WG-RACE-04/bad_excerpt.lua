-- WG-RACE-04, broken: Two threads do not access one place in global memory, one of them writing, unless a barrier of their CTA or cluster or atomics that release and acquire stand between, or both are atomic through one proxy.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X, thread = k:param("X", "f32*"), k:special "tid.x"
  local cta = k:special "ctaid.x"
  k:st_global_f32(k:element(X, thread), k:cvt_rn_f32_u32(cta)) -- EXPECT: WG-RACE-04 -- EXPECT IN RUN: WG-RACE-04
end)
kernel:run { grid = { 2 }, args = { wg.zeros("f32", { 256 }) } }
