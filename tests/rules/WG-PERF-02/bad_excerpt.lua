-- WG-PERF-02, broken: The assembler adds no wgmma.fence and no wgmma.wait_group: those of the script are where it needs them.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local thread = k:special "tid.x"
  local acc, da, db = kit.operands(k)
  for i = 0, 31 do k:mov(acc[i], 0) end
  local block = k:special "ctaid.x"
  k:if_(block:eq(0), function() k:wgmma_fence() end, function() k:wgmma_fence() end)
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"}) -- EXPECT ASSEMBLED: WG-PERF-02
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
  k:st_global_f32(k:element(X, thread), acc[0])
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4096 }) } }
