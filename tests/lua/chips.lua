-- wg.chips: what differs between the chips, and that plans are for the chip that is there.
local wg = require "wgrun"

local h100, h200 = wg.chips["NVIDIA H100 80GB HBM3"], wg.chips["NVIDIA H200"]
assert(h200.sm_count == wg.target.multiprocessors and h200.l2_bytes == 60 << 20 and h200.clock == 1.98e9)
assert(h100.l2_bytes == wg.target.l2 and h100.memory_bytes < h200.memory_bytes)
assert(math.abs(h100.memory_bandwidth - 3.35e12) < 0.01e12) -- the data sheet's

-- A chip whose driver does not tell the sizes has those of its row: on an H200 K would be in three parts, and 132 CTAs resident.
wg.device = function() return { name = "NVIDIA H100 PCIe", sm_count = 0, l2_bytes = 0, memory_bandwidth = 0 } end
local plan = wg.gemm { problem = { 128, 1024, 4096 } }.plan
assert(plan.splits == 6 and plan.swapped, plan.splits)
plan = wg.gemm { problem = { 2048, 1024, 4096 } }.plan -- 128 tiles of 128 x 128 are one round of 132 SMs, and two of 114
assert((2048 // plan.m) * ((1023 + plan.n) // plan.n) <= 114, plan.n)
local attention = wg.attention { dim = 64 }
local Q, O = wg.zeros("bf16", { 32, 768, 1, 64 }), wg.zeros("bf16", { 32, 768, 1, 64 })
assert(attention:launch(Q, Q, Q, O).grid[1] == 114)
