-- WG-DESC-02, kept in a run: the number of K steps comes with the launch.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local steps = k:param("steps", "u32")
  local acc, da, db = kit.operands(k)
  for i = 0, 31 do k:mov(acc[i], 0) end
  k:wgmma_fence()
  k:loop(steps, function()
    k:wgmma_mma_async(acc, da, db, { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
    da:set(da + 2)
    db:set(db + 2)
  end)
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = { 4 } }
