-- How many cycles a product takes by the roofline (roofline.lua), with the coefficients of fitted.lua: wg.gemm's
-- plans and tuning choose by them. One model is for products of many tiles. The other is for a small M, where products
-- leave SMs without a tile, or split K.

local fitted = require "wgrun.cost.fitted"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local gemm, small_m = fitted.gemm, fitted.small_m
local in_rounds, limited, product_cycles = roofline.in_rounds, roofline.limited, roofline.product_cycles
local limits, sms, ceil_div = native.roofline, roofline.sms, roofline.ceil_div
local memory_bytes = gemm.memory * limits.memory_bandwidth / limits.busy_clock -- in a cycle, for all SMs

--- Consumers that share a tile of m rows.
function module.consumers(m) return m == 192 and 3 or math.min(m // 64, 2) end
local consumers_of = module.consumers

--- The tiles of D and schedules that are worth a try for a plan of that kind with so many products, of "small_m" tiles
--- or by default "many", and the share of the tensor cores' `speed` that their main loops reach, on a `hot` chip or
--- another; `width` are the columns of the accumulators.
function module.candidates(kind, products, of, hot)
  local list = {}
  for _, schedule in ipairs { "cooperative", "pingpong" } do
    for _, c in ipairs(gemm.tiles[kind][schedule] or {}) do
      if not c.of or c.of == (of or "many") then
        list[#list + 1] = {
          tile = { c[1], c[2] // products }, width = c[2], schedule = schedule,
          speed = hot and c.hot or c[3], line = c.line or 128, cluster = c.cluster,
        }
      end
    end
  end
  return list
end

-- Cycles of a consumer's epilogue. Operations on elements come on top, and the stages that C takes from the ring where
-- a consumer has more than one block of rows.
local function epilogue_cycles(m, n, schedule, e)
  local sharing = schedule == "pingpong" and 1 or consumers_of(m)
  local blocks = m // 64 // sharing
  local stages = schedule ~= "pingpong" and (e.beta or e.residual) and gemm.c_stage * (blocks - 1) or 0
  return gemm.start + gemm.block * blocks * n / 256 + m * n * e.cycles + stages
end

--- How often CTAs take a tile. With tail tiles, a last round in which at most half of them have one takes half as long.
function module.rounds(tiles, tails)
  return in_rounds(tiles, sms(), function(n) return tails and 2 * n <= sms() and 0.5 or 1 end)
end

-- Cycles of `tiles` tiles of m x n whose main loops take `cycles`, with each split in `splits` slices: waves of
-- slices, epilogues where nothing hides them, and the sums that every slice writes and the last one reads back.
local function cycles_of(m, n, tiles, cycles, schedule, splits, e, tails)
  local waves, epilogue = module.rounds(tiles * splits, tails), epilogue_cycles(m, n, schedule, e)
  if schedule == "pingpong" then return waves * math.max(cycles, epilogue) + epilogue end
  if splits == 1 then return waves * (cycles + epilogue) end
  local sums = m * n * 4 / gemm.workspace_bytes
  return waves * (cycles / splits + epilogue + sums) + splits * sums
end

--- The number of slices into which K, of `blocks` blocks, is split, and the cycles that the product then takes. One
--- slice, unless that leaves most of the chip idle and more slices are clearly faster.
function module.best_splits(m, n, tiles, cycles, blocks, e, tails)
  local best, least = 1, cycles_of(m, n, tiles, cycles, "cooperative", 1, e, tails)
  for splits = 2, math.min(16, sms() // tiles, blocks // 4) do
    local total = cycles_of(m, n, tiles, cycles, "cooperative", splits, e)
    if total < least and (best > 1 or gemm.splits_gain * total < least) then best, least = splits, total end
  end
  return best, least
end

--- With block scales: the number of slices of K for the tiles of the last round, at most as many as there are CTAs for
--- each of them, and the cycles that the product then takes.
function module.best_last_splits(m, n, tiles, cycles, blocks, e)
  local epilogue, sums = epilogue_cycles(m, n, "cooperative", e), m * n * 4 / gemm.workspace_bytes
  local ctas, best, least = sms(), 1, cycles_of(m, n, tiles, cycles, "cooperative", 1, e)
  local rest = tiles % ctas
  for splits = 2, rest > 0 and math.min(4, ctas // rest, blocks // 4) or 1 do
    local total = tiles // ctas * (cycles + epilogue) + cycles / splits + epilogue + (splits + 1) * sums
      + gemm.last_splits
    if total < least then best, least = splits, total end
  end
  return best, least
end

--- The cycles of a product for a candidate of candidates. problem: its `kind`, M, N, the `row_bytes` of a row of K, the
--- number of `groups`, which have a B each and may take as long as their `group_bytes` do, and `tails`, whether tail
--- tiles are asked for.
function module.candidate_cycles(c, problem, e)
  local m, n, kind, groups = c.tile[1], c.tile[2], problem.kind, problem.groups
  local along_m, along_n = 1, 1
  if c.cluster then along_m, along_n = table.unpack(c.cluster) end
  local tiles = (groups or 1) * ceil_div(ceil_div(problem.M, groups or 1), m * along_m) * along_m
    * ceil_div(problem.N, n * along_n) * along_n
  local cycles, blocks = product_cycles(m, c.width, problem.row_bytes) / c.speed, problem.row_bytes // 128
  if kind == "dense" then
    cycles = math.max(cycles, roofline.chip().row_cycles * (m + c.width) * problem.row_bytes / 128)
  end
  if groups then
    local memory = problem.group_bytes / memory_bytes * (c.line > 128 and gemm.long_lines or 1)
    local tails = problem.tails and c.schedule == "cooperative" and n == 256
    return limited(cycles_of(m, n, tiles, cycles, c.schedule, 1, e, tails), memory, gemm.exposed)
  end
  if c.cluster then return cycles_of(m, n, tiles, cycles, c.schedule, 1, e) end
  if kind == "block_scaled" then return select(2, module.best_last_splits(m, n, tiles, cycles, blocks, e)) end
  if c.schedule == "pingpong" then return cycles_of(m, n, tiles, cycles, c.schedule, 1, e) end
  return select(
    2, module.best_splits(m, n, tiles, cycles, blocks, e, kind == "sparse" and m == 256 and problem.tails ~= false))
end

--- The cycles that the copies of a tile's m + n rows take where memory is the limit. bytes: of a row along K.
function module.memory_cycles(m, n, bytes) return (m + n) * bytes * sms() / memory_bytes end

-- The cycles that each of `active` CTAs takes for one line of K: those of the products, of the copies or of a stage's
-- way, whichever are most, and a little of the others.
local function line_cycles(c, active)
  -- The second: wgmma reads A and B from shared memory, B for 64 rows at a time.
  local products = math.max(
    product_cycles(c.m, c.n, 128) / c.speed, (c.m + c.m // 64 * c.n) * 128 / limits.shared_bytes)
  local copies = small_m.activation * c.activations / c.activation_ctas
    + (c.asked_again and small_m.weight * c.weights / c.weight_ctas or 0)
    + small_m.multicast * ((c.activation_ctas > 1 and c.activations or 0) + (c.weight_ctas > 1 and c.weights or 0))
  copies = copies * (small_m.idle + (1 - small_m.idle) * active / sms()) * roofline.chip().l2
  local stage = small_m.latency / c.lines / (c.stages - 0.5)
  products, copies, stage = products * products, copies * copies, stage * stage
  return math.sqrt(math.sqrt(products * products + copies * copies + stage * stage))
end

--- The share of the tensor cores' time that tiles of m rows take, for a small M.
function module.small_m_speed(m)
  return 1 / (m == 192 and small_m.three_consumers * small_m.products or small_m.products)
end

--- The cycles of a product for a choice of gemm/small_m.lua.
function module.small_m_cycles(c)
  local problem, ctas = c.problem, math.max(c.splits, c.cluster[1] * c.cluster[2])
  local at_a_time = roofline.clusters_at_a_time(ctas)
  local units = c.splits > 1 and c.m_tiles * c.n_tiles
    or ceil_div(c.m_tiles, c.cluster[1]) * ceil_div(c.n_tiles, c.cluster[2])
  local blocks = c.m // 64 // consumers_of(c.m)
  local behind = (small_m.block * blocks * c.n / 256 + c.m * c.n * problem.operations) / c.owners
    + (c.splits - 1) * c.m * c.n * 4 / c.owners / small_m.dsmem_bytes
  local part = ceil_div(ceil_div(problem.lines, c.lines), c.splits) * c.lines
  local of_sms = in_rounds(units, at_a_time, function(n)
    return part * line_cycles(c, n == at_a_time and sms() or n * ctas) + behind
  end)
  local without_tile = 1 - units / (ceil_div(units, at_a_time) * at_a_time)
  local of_memory = problem.bytes / (small_m.memory * roofline.chip().memory) * (1 + small_m.uneven * without_tile)
  return limited(of_sms, of_memory, small_m.exposed) + (ctas > 1 and small_m.cluster or 0)
end

return module
