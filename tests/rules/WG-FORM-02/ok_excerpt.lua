-- WG-FORM-02, kept: An operand has the kind, the type and the number of registers that the instruction asks for, and an immediate is in its range.
local wg = require "wgrun"
local kit = dofile((arg[0]:match ".*/" or "") .. "../kit.lua")

local kernel = wg.kernel("case", { threads = 128 }, function(k)
  local n = k:param("n", "u32")
  local acc, da, db = kit.operands(k)
  local acc = k:regs("f32", 32)   -- n/2 registers for an f32 accumulator
  k:wgmma_fence()
  k:wgmma_mma_async(acc, da, db, {n=64, k=16, d="f32", a="bf16", b="bf16", scale_d=0})
  k:wgmma_commit_group()
  k:wgmma_wait_group(0)
end)
kernel:run { grid = { 2 }, args = { 200 } }
