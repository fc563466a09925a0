-- Behind a flag that is read without an acquire, although the CTA has a fence later on.
local wg = require "wgrun"

local kernel = wg.kernel("case", { threads = 32 }, function(k)
  local V, F, cta = k:param("V", "u32*"), k:param("F", "u32*"), k:special "ctaid.x"
  k:if_(k:special("laneid"):eq(0), function()
    local before = k:mov(0, { type = "u32" })
    k:if_(cta:gt(0), function()
      k:while_(function() return k:ld_relaxed_gpu_global_u32(k:element(F, cta - 1)):eq(0) end, function() end)
      before:set(k:ld_global_u32(k:element(V, cta - 1))) -- EXPECT IN RUN: WG-RACE-04
    end)
    k:st_global_u32(k:element(V, cta), before + 32)
    k:fence_acq_rel_gpu()
    k:st_relaxed_gpu_global_u32(k:element(F, cta), 1)
  end)
end)
kernel:run { grid = { 2 }, args = { wg.zeros("u32", 2), wg.zeros("u32", 2) } }
