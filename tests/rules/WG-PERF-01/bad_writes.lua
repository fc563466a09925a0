-- WG-PERF-01, broken by writes to accumulators while the other group runs: The wgmma of a kernel overlap: the assembler does not serialise them.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")
local tile = wg.tile { dtype = "bf16", mn = 64, k = 64, major = "K" }

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local X = k:param("X", "f32*")
  local a, b = k:shared(tile, "a"), k:shared(tile, "b")
  local thread = k:special "tid.x"
  kit.fill(k, { a, b })
  local da, db = k:descriptor(a), k:descriptor(b)
  local p, q = k:regs("f32", 32), k:regs("f32", 32)
  local function step(acc)
    k:wgmma_fence()
    k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16"}) -- EXPECT ASSEMBLED: WG-PERF-01
    k:wgmma_commit_group()
  end
  for i = 0, 31 do
    k:mov(p[i], 1)
    k:mov(q[i], 1)
  end
  step(p)
  k:loop(4, function()
    step(q)
    k:wgmma_wait_group(1)
    k:st_global_f32(k:element(X, thread), p[0])
    for i = 0, 31 do k:mov(p[i], 0) end
    step(p)
    k:wgmma_wait_group(1)
    for i = 0, 31 do k:mov(q[i], 0) end
  end)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { wg.zeros("f32", { 4096 }) } }
