-- A model of how long a product with weights of 4 or 8 bits takes on an H200, by which wg.gemm{ b_type = } chooses its tile and its parts of
-- K. The numbers are fitted to measured launches (docs/performance.md, weights of 4 and 8 bits).

return function(wg, internal)
  local ceil_div, target = internal.ceil_div, wg.target

  local resident = internal.clusters_at_a_time

  -- us in which the warps of an SM convert 2^15 weights and multiply them by so many rows of A.
  local turns = { { 8, 0.40 }, { 16, 0.46 }, { 24, 0.515 }, { 32, 0.575 }, { 64, 0.84 }, { 128, 1.26 }, { 256, 2.6 } }
  local function turn_of(n)
    for i = 2, #turns do
      local from, to = turns[i - 1], turns[i]
      if n <= to[1] then return from[2] + (n - from[1]) / (to[1] - from[1]) * (to[2] - from[2]) end
    end
  end

  -- us of a block of K: what takes the longest of warps, memory (4.89 TB/s for all SMs, 48.9 GB/s for one) and the way from the L2 cache to an SM.
  -- With fewer than four stages all of them wait for each other.
  local function block_time(p, ctas)
    local weights, a, stages = p.m * p.block_k * p.bits / 8, p.n * p.block_k * 2, p.room // p.stage_bytes
    local warps = turn_of(p.n) * p.m * p.block_k / 32768 * (p.bits == 8 and 1.06 or 1)
    local waits = stages < 3 and 1.85 or stages == 3 and 1.06 or 1
    return math.max(warps, weights * ctas / 4.89e6, weights / 4.89e4, (weights + a) / 9.3e4) * waits
  end

  --- us that a launch of a plan takes, all SMs being free: its start, rounds of CTAs, and the sums that CTAs hand over.
  function internal.mixed_time(p, M, N, K)
    local tiles, blocks = ceil_div(M, p.n) * ceil_div(N, p.m), ceil_div(K, p.block_k)
    if p.stream then
      local ctas = math.min(target.multiprocessors, tiles * blocks)
      local of_cta = ceil_div(tiles * blocks, ctas)
      local parts = ceil_div(blocks, of_cta) + 1
      local sums = tiles % ctas == 0 and 0 or 2.7 + parts * p.m * p.n * 4 / 7.6e4
      return 2.0 + of_cta * block_time(p, ctas) + sums + 0.16 * of_cta / blocks
    end
    local at_a_time = resident[p.splits] * p.splits
    local rounds, of_cta = ceil_div(tiles * p.splits, at_a_time), ceil_div(blocks, p.splits)
    local sums = p.splits == 1 and 0 or 0.28 + (p.parts - 1) * p.sum_bytes / 8.5e4
    return 2.0 + rounds * (of_cta * block_time(p, math.min(tiles * p.splits, at_a_time)) + sums) + 1.5 * (rounds - 1)
  end
end
