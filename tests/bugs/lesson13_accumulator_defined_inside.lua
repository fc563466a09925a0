-- https://github.com/NVIDIA/TensorRT-LLM/issues/2116 and https://github.com/sgl-project/sglang/issues/6453: C7515, wgmma
-- serialized: other instructions define accumulator registers inside the pipeline stage.
-- bad: between before_commit
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("inside", { threads = 128 }, function(k)
  local a, b = k:shared(kit.tile, "a"), k:shared(kit.tile, "b")
  kit.fill(k, { a, b })
  local first, second = k:regs("f32", 32), k:regs("f32", 32)
  kit.multiply(k, first, a, b)
  if kit.is "fixed" then k:wgmma_wait_group(0) end
  if kit.is("between", "fixed") then
    for i = 0, 31 do k:mul(first[i], first[i], 0.5) end -- EXPECT(between): WG-GROUP-01
  end
  k:wgmma_fence()
  k:wgmma_mma_async(second, k:descriptor(a), k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16", scale_d = 0 })
  if kit.is "before_commit" then k:mov(second[3], 0) end -- EXPECT(before_commit): WG-GROUP-01
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
