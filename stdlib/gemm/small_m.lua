-- The plan of wg.gemm for a small M or, likewise, a small N: such products have few tiles, which would leave SMs
-- without one. It chooses among smaller tiles, split-K in a cluster (reduction/cluster.lua), clusters whose CTAs share
-- copies, and A and B swapped. A model (cost/gemm.lua) counts the cycles of each choice. It counts lines of K: 128
-- bytes of each row.

local wg = require "wgrun"
local fitted = require "wgrun.cost.fitted"
local cost = require "wgrun.cost.gemm"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"
local reduction_cluster = require "wgrun.reduction.cluster"

local module = {}

local ceil_div, consumers_of = roofline.ceil_div, cost.consumers
local small_m, most_splits = fitted.small_m, wg.target.portable_cluster
local columns = { 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 }
local alone = { 1, 1 }
local clusters = {
  [true] = { { 2, 1 }, { 4, 1 }, { 1, 2 }, { 2, 2 }, { 4, 2 } },
  [false] = { { 2, 1 }, { 4, 1 }, { 1, 4 }, { 4, 2 }, { 2, 4 } },
}

-- A choice for the problem: a tile of D or of its transpose, the lines of K in a block, the CTAs of a cluster along M
-- and N, the slices of K. nil where it does not fit.
local function choice(problem, swapped, m, n, lines, cluster, splits, speed)
  local owners = reduction_cluster.owners_of(n, splits, swapped)
  if not owners then return nil end
  local received = (splits - 1) * m * n * 4 // owners
  local stages = (wg.target.cta_shared - 1024 - received - consumers_of(m) * 2 * 64 * 128) // ((m + n) * lines * 128)
  local blocks = ceil_div(problem.lines, lines)
  if splits > 1 and (blocks < 2 * splits or received > reduction_cluster.most_received) or stages < 3 then
    return nil
  end
  local rows, columns = problem.M, problem.N
  if swapped then rows, columns = columns, rows end
  local m_tiles, n_tiles, along_m, along_n = ceil_div(rows, m), ceil_div(columns, n), cluster[1], cluster[2]
  -- CTAs without a tile
  if m_tiles % along_m ~= 0 or 10 * n_tiles < 9 * ceil_div(n_tiles, along_n) * along_n then return nil end
  local m_unit, n_unit = problem.m_unit, problem.n_unit -- of rows that a copy brings
  if swapped then m_unit, n_unit = n_unit, m_unit end
  -- Pairs do not pay where more than four CTAs want the same rows of B.
  if (swapped and along_n == 2 and n_tiles or not swapped and along_m == 2 and m_tiles or 0) > 4 then return nil end
  if m // along_n % m_unit ~= 0 or n // along_m % n_unit ~= 0 or m % along_n ~= 0 or n % along_m ~= 0 then
    return nil
  end
  -- The rows of A and of B in a tile, in the mean: at an edge, boxes have those that are left. And the CTAs that share
  -- a copy of them.
  local activations, weights, activation_ctas, weight_ctas, weight_tiles = rows / m_tiles, columns / n_tiles, along_n,
    along_m, m_tiles
  if swapped then
    activations, weights, activation_ctas, weight_ctas, weight_tiles = weights, activations, along_m, along_n, n_tiles
  end
  return {
    problem = problem, swapped = swapped, m = m, n = n, lines = lines, cluster = cluster, splits = splits,
    owners = owners,
    stages = math.min(stages, 12), m_tiles = m_tiles, n_tiles = n_tiles, speed = speed or cost.small_m_speed(m),
    activations = activations, weights = weights, activation_ctas = activation_ctas, weight_ctas = weight_ctas,
    asked_again = weight_tiles > weight_ctas,
  }
end

-- The columns of tiles of D's transpose, whose columns are the M rows of A: as many as up to five tiles need, in
-- eights, and a few more, so that more CTAs of a cluster can store some.
local function columns_of(M, integers)
  local list, seen = {}, {}
  for tiles = ceil_div(M, 256), math.max(5, ceil_div(M, 256)) do
    -- wgmma of integers: multiples of 16 (PTX ISA 9.7.15.5)
    for _, unit in ipairs(integers and M > 32 and { 16, 32 } or { 8, 16, 32 }) do
      local n = ceil_div(M, unit * tiles) * unit
      if n <= 256 and (n >= 40 or tiles == 1) and not seen[n] then
        seen[n], list[#list + 1] = true, n
      end
    end
  end
  return list
end

-- Calls visit(swapped, m, n, lines, speed) for each tile that is worth a try.
local function each_tile(problem, given, visit)
  if given.tile then
    return visit(given.swap, given.tile[1], given.tile[2], given.tile[3] * problem.element / 128, 1)
  end
  if given.block_scaled then
    for _, c in ipairs(cost.candidates("block_scaled", 1, "small_m")) do
      visit(false, c.tile[1], c.tile[2], 1, c.speed)
    end
    return
  end
  if given.swap ~= true then
    for m = 64, 256, 64 do
      for _, n in ipairs(columns) do
        local fits = n <= (m == 192 and 192 or m == 256 and 176 or 256) -- more leave no registers
        if fits and (m == 64 or problem.M > m - 64) then visit(false, m, n, 1) end
      end
    end
  end
  if given.swap ~= false then
    for _, n in ipairs(columns_of(problem.M, problem.integers)) do
      for _, lines in ipairs(n <= 64 and { 1, 2, 4 } or { 1, 2 }) do
        visit(true, 64, n, lines)
        visit(true, 128, n, lines)
      end
    end
  end
end

-- Calls visit(c, cycles) for each choice that is worth a try, and the cycles that it takes; `given` as in tiles.
local function each_choice(p, M, N, K, bytes, given, visit)
  local e = p.epilogue
  local is_small = M * N <= small_m.most_tiles * 128 * 256 or M <= small_m.most_rows and not given.block_scaled
  if e.gate or e.quantize or e.row_sums or not is_small or (given.splits or 1) > most_splits then return end
  local problem = {
    M = M, N = N, lines = ceil_div(K * bytes, 128), element = bytes,
    bytes = (M + N) * K * bytes + M * N * native.element_bytes[p.d],
    integers = p.accumulator == "s32", operations = e.cycles,
    m_unit = given.a_major == "MN" and 64 or 8, n_unit = given.b_major == "MN" and 64 or 8,
  }
  each_tile(problem, given, function(swapped, m, n, lines, speed)
    if not (e.plain or m * n <= 256 * 192) then return end
    local function consider(cluster, splits)
      local c = choice(problem, swapped, m, n, lines, cluster, splits, speed)
      if c then visit(c, cost.small_m_cycles(c)) end
    end
    -- As many slices of K as all CTAs finish in two rounds.
    local tiles = swapped and ceil_div(N, m) * ceil_div(M, n) or ceil_div(M, m) * ceil_div(N, n)
    for splits = given.splits or 1, given.splits or math.max(1, math.min(most_splits, 2 * roofline.sms() // tiles)) do
      consider(alone, splits)
    end
    -- C goes through the ring without clusters alone
    local may_share = not (given.tile or given.block_scaled or given.cluster or e.beta or e.residual)
    if (given.splits or 1) == 1 and may_share then
      for _, cluster in ipairs(clusters[swapped]) do consider(cluster, 1) end
    end
  end)
end

local function made(c, bytes)
  return {
    tile = { c.m, c.n, math.tointeger(c.lines * 128 // bytes) }, splits = c.splits, cluster = c.cluster,
    swapped = c.swapped,
  }
end

--- What a product of M x N x K with a small M takes: { tile = { m, n, block of K }, splits =, cluster =, swapped = },
--- where a swapped product's tile is that of D's transpose. nil where the product has many tiles, or where the epilogue
--- wants whole tiles. `bytes`: of an element. given: `a_major` and `b_major`; `tile`, `splits`, `cluster` and whether A
--- and B are swapped, `swap`, where that is chosen already; and `block_scaled`, whether the operands have block scales.
function module.tiles(p, M, N, K, bytes, given)
  local best, least
  each_choice(p, M, N, K, bytes, given, function(c, cycles)
    if not least or cycles < least then best, least = c, cycles end
  end)
  return best and made(best, bytes)
end

--- The `most` choices that the model finds fastest, the fastest first; otherwise as tiles.
function module.candidates(p, M, N, K, bytes, given, most)
  local list = {}
  each_choice(p, M, N, K, bytes, given, function(c, cycles)
    local one = made(c, bytes)
    one.cycles = cycles
    list[#list + 1] = one
  end)
  table.sort(list, function(a, b) return a.cycles < b.cycles end)
  return { table.unpack(list, 1, math.min(#list, most)) }
end

return module
