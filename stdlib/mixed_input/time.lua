-- A model of the time of a mixed-input product. wg.gemm{ b_type = } chooses its tile and its slices of K by it.

local cost_fitted = require "wgrun.cost.fitted"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fitted, ceil_div, resident = cost_fitted.mixed_input, roofline.ceil_div, roofline.clusters_at_a_time
local bandwidth = native.roofline.memory_bandwidth * 1e-6 -- bytes in a us

local function turn_of(p)
  local n, turns = p.n, fitted.turns[p.element_bytes]
  for i = 2, #turns do
    local from, to = turns[i - 1], turns[i]
    if n <= to[1] then return from[2] + (n - from[1]) / (to[1] - from[1]) * (to[2] - from[2]) end
  end
end

-- us of a block of K: what takes the longest of warps, memory and the way from the L2 cache to an SM.
local function block_time(p, ctas)
  local weights, a, stages = p.blocks * p.weight_bytes, p.n * p.block_k * p.element_bytes, p.room // p.stage_bytes
  local warps = turn_of(p) * p.m * p.block_k / 32768 * (p.bits == 8 and fitted.bits_8 or 1)
  local memory = math.max(weights * ctas / fitted.memory, weights / fitted.one_memory) / bandwidth
  return math.max(warps, memory, (weights + a) / fitted.l2_bytes) * (fitted.waits[stages] or 1)
end

--- us that a launch of a plan takes, all SMs being free: its start, rounds of CTAs, and the sums that CTAs send.
function module.microseconds(p, M, N, K)
  local tiles, blocks = ceil_div(M, p.n) * ceil_div(N, p.m), ceil_div(K, p.block_k)
  if p.stream_k then
    local ctas = math.min(roofline.sms(), tiles * blocks)
    local of_cta = ceil_div(tiles * blocks, ctas)
    local parts = ceil_div(blocks, of_cta) + 1
    local sums = tiles % ctas == 0 and 0 or fitted.stream_sums + parts * p.m * p.n * 4 / fitted.stream_bytes
    return fitted.start + of_cta * block_time(p, ctas) + sums + fitted.stream_tile * of_cta / blocks
  end
  local at_a_time = resident(p.splits) * p.splits
  local rounds, of_cta = ceil_div(tiles * p.splits, at_a_time), ceil_div(blocks, p.splits)
  local sums = p.splits == 1 and 0
    or fitted.sums + (p.slices - p.k_slices) * p.sum_bytes / fitted.sum_bytes[p.element_bytes]
  return fitted.start + rounds * (of_cta * block_time(p, math.min(tiles * p.splits, at_a_time)) + sums)
    + fitted.round * (rounds - 1)
end

return module
