-- https://github.com/triton-lang/triton/issues/9433 (fix in #9514): A in registers, rewritten for the next step while the
-- wgmma before still reads it: the wait left one group too many.
-- bad: bug
-- good: fixed
local wg = require "wgrun"
local kit = dofile(arg[0]:match ".*/" .. "kit.lua")

local kernel = wg.kernel("fragment", { threads = 128 }, function(k)
  local b = k:shared(kit.tile, "b")
  kit.fill(k, { b })
  local acc, fragment = k:regs("f32", 32), k:regs("b32", 4)
  for i = 0, 31 do k:mov(acc[i], 0) end
  k:loop(3, function(step)
    for i = 0, 3 do k:mov(fragment[i], step) end -- EXPECT: WG-GROUP-01
    k:wgmma_fence()
    k:wgmma_mma_async(acc, fragment, k:descriptor(b), { n = 64, k = 16, d = "f32", a = "bf16", b = "bf16" })
    k:wgmma_commit_group()
    k:wgmma_wait_group(kit.is "bug" and 1 or 0)
  end)
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 1 }, args = {} }
