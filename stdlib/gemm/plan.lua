-- The plan of wg.gemm: tile, schedule, stages and registers, taken from the options or, where these leave them open,
-- chosen by a model of the time that the problem takes.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local collective = require "wgrun.collective.collective"
local shards = require "wgrun.collective.shards"
local cost = require "wgrun.cost.gemm"
local roofline = require "wgrun.cost.roofline"
local epilogue_plan = require "wgrun.epilogue.plan"
local small_m_plan = require "wgrun.gemm.small_m"
local block_scaled = require "wgrun.mainloop.block_scaled"
local dense = require "wgrun.mainloop.dense"
local emulated = require "wgrun.mainloop.emulated"
local exclusions = require "wgrun.mainloop.exclusions"
local mainloop_plan = require "wgrun.mainloop.plan"
local scales = require "wgrun.mainloop.scales"
local sparse = require "wgrun.mainloop.sparse"
local mixed_input_plan = require "wgrun.mixed_input.plan"
local native = require "wgrun.native"
local cluster = require "wgrun.reduction.cluster"
local memory = require "wgrun.reduction.memory"
local scheduler_groups = require "wgrun.scheduler.groups"
local order = require "wgrun.scheduler.order"
local stream_k = require "wgrun.scheduler.stream_k"
local scheduler_tiles = require "wgrun.scheduler.tiles"

local result = {
  f16 = "f16", bf16 = "bf16", f32 = "f32", tf32 = "f32", e4m3 = "bf16", e5m2 = "bf16", s8 = "s32", u8 = "s32",
}

local module = {}

local fail, options, target = native.fail, arguments.options, wg.target
local element_bytes, ceil_div = native.element_bytes, roofline.ceil_div
local whole = mainloop_plan.integer

--- What decides which tiles are worth a try for options of wg.gemm: "sparse", "block_scaled", "grouped", "emulated"
--- or "dense".
function module.kind(opts)
  local of_blocks = type(opts.scales) == "table" and opts.scales.a == "1x128"
  return opts.precision and "emulated" or opts.sparse and "sparse" or of_blocks and "block_scaled"
    or opts.groups and "grouped" or "dense"
end

-- Rows of tiles that the order covers before it goes on to the next column: those that were fastest. CTAs that need the
-- same rows of weights follow each other: those of a column, or with A and B swapped of a row. A sparse A has half of
-- B's bytes: 2816 of its rows make a wave of 132 tiles of 128x256 22 by 6 tiles. With block scales, few of the `rows`
-- would be left behind the first 16, and all of B would be read again for them.
local function rows_in_order(p, kind, rows)
  if p.swapped then return 1 end
  if p.pingpong then return 8 end
  if kind == "block_scaled" and rows > 16 and rows <= 24 then return rows end
  return kind == "dense" and 12 or kind == "sparse" and 2816 // p.m or 16
end

-- The bytes of a row that the tensor cores multiply.
local function row_bytes_of(p, K, bytes)
  return (p.sparse and K // 2 or K) * bytes * (p.emulated and #p.emulated.products or 1)
end

-- The candidate that takes the fewest cycles for the problem, among those of `schedule` if one is given, and where
-- options leave room for a cluster among those that are fastest in one.
local function choose(p, M, N, K, bytes, schedule, kind, groups, opts)
  local best, least
  local d_bytes, e = element_bytes[p.d], p.epilogue
  local problem = {
    kind = kind, M = M, N = N, row_bytes = row_bytes_of(p, K, bytes), groups = groups, tails = opts.halves,
  }
  local may_cluster = opts.problem and e.plain
    and not (opts.tile or opts.stages or opts.cluster or opts.splits or opts.last_splits)
  problem.group_bytes = groups and bytes * K * (M + groups * N * p.products) + d_bytes * M * N
  local of = groups and kind == "block_scaled" and "grouped_block_scaled" or kind
  for _, c in ipairs(cost.candidates(of, p.products, nil, opts.heat ~= "cool")) do
    local m, n = c.tile[1], c.tile[2]
    local total = cost.candidate_cycles(c, problem, e)
    local fits = (may_cluster or not c.cluster)
      and (n * d_bytes % 64 == 0 or n % 16 == 0) and (p.b_major ~= "MN" or n % 64 == 0)
      and (not schedule or schedule == c.schedule) and (not e.quantize or n % 128 == 0)
      and (not p.gather or 512 % (m * (c.cluster and c.cluster[1] or 1)) == 0) -- what `gathered` is asked for
      and (e.plain or m * c.width <= 256 * 192) -- more accumulators leave no registers for operations
    if fits and (not least or total < least) then best, least = c, total end
  end
  return best
end

-- Whether A and B may be swapped, and D be written transposed: for a small M, because wgmma's M is 64.
local function may_swap(p, given)
  if given then exclusions.refuse_conflicts(p, "swap_ab") end
  return given ~= false and exclusions.may_choose(p, "swap_ab")
end

-- The tile; for a swapped problem, that of the transpose.
local function tile_of(p, M, bytes, given, chosen)
  local tile = given or chosen.tile
  if p.swapped then
    tile = given or M <= 16 and { 64, 16, 512 // bytes }
      or { 64, M <= 32 and 32 or M <= 64 and 64 or 128, 256 // bytes }
  end
  return { tile[1], tile[2], tile[3] or (p.emulated and p.emulated.line or given and 128 or chosen.line) // bytes }
end

-- The number of slices of K: the option, or the model's choice where the problem is known.
local function splits_of(p, opts, M, N, K, bytes, chosen)
  if opts.splits then
    if opts.splits > 1 then exclusions.refuse_conflicts(p, "splits") end
    return opts.splits
  end
  if not opts.problem or not exclusions.may_choose(p, "splits") then return 1 end
  if p.swapped then M, N = N, M end
  local cycles = roofline.product_cycles(p.m, p.width, row_bytes_of(p, K, bytes)) / (opts.tile and 1 or chosen.speed)
  if p.swapped then cycles = math.max(cycles, cost.memory_cycles(p.m, p.n, K * bytes)) end
  return (cost.best_splits(p.m, p.n, ceil_div(M, p.m) * ceil_div(N, p.n), cycles, K // p.block_k, p.epilogue))
end

-- The number of slices of K for the tiles of the last round: the option, or the model's choice where the problem is
-- known.
local function last_splits_of(p, opts)
  if opts.last_splits then
    if opts.last_splits > 1 then exclusions.refuse_conflicts(p, "last_splits") end
    return opts.last_splits
  end
  if not opts.problem or not exclusions.may_choose(p, "last_splits") then return 1 end
  local M, N, K = table.unpack(opts.problem, 1, 3)
  local cycles = roofline.product_cycles(p.m, p.n, K)
  return (cost.best_last_splits(p.m, p.n, ceil_div(M, p.m) * ceil_div(N, p.n), cycles, K // p.block_k, p.epilogue))
end

-- Whether the tiles of the last round become tail tiles of half their rows, so that twice as many CTAs share them.
local function tail_m_of(p, opts)
  if p.groups then return false end -- whose tail tiles have half of the columns
  if opts.halves then exclusions.refuse_conflicts(p, "halves") end
  if opts.halves ~= nil then return opts.halves end
  local tiles = opts.problem and ceil_div(opts.problem[1], p.m) * ceil_div(opts.problem[2], p.n) or 0
  return p.sparse and exclusions.may_choose(p, "halves") and cost.rounds(tiles, true) < cost.rounds(tiles) or false
end

-- The rows of the last tile of A and of B, where it is not full. The producer copies boxes of so many rows there,
-- because boxes with many rows outside are slow (docs/experiments/small_m.md).
local function edges_of(p, opts, bytes)
  if not opts.problem or p.groups or p.sparse or p.emulated or p.tail_m or p.collective then return {} end
  if p.block_k * bytes % 128 ~= 0 then return {} end
  local M, N = opts.problem[1], opts.problem[2]
  if p.swapped then M, N = N, M end
  local function edge(extent, tile, major)
    local rows = extent % tile
    return rows > 0 and tile - rows >= 8 and major == "K" and rows or nil
  end
  return {
    A = p.cluster_n == 1 and edge(M, p.m, p.a_major) or nil,
    B = p.cluster_m == 1 and p.products == 1 and edge(N, p.n, p.b_major) or nil,
  }
end

-- A plan with the options of the operands, of D and of the epilogue.
local function begin(opts)
  if (opts.dtype == "f32") ~= (opts.precision ~= nil) then
    fail(
      'wg.gemm: dtype = "f32" and `precision` go together: wgmma multiplies parts of f32 numbers',
      'dtype = "f32", precision = "bf16x6"; or dtype = "tf32", which keeps 11 bits of them')
  end
  local emulation = emulated.precision(opts.precision)
  local p = {
    what = "wg.gemm", name = opts.name, dtype = emulation and emulation.dtype or opts.dtype,
    a_major = opts.a_major, b_major = opts.b_major, raster = opts.raster,
    precision = opts.precision, emulated = emulation,
    sparse = opts.sparse, groups = opts.groups, constant = opts.constant,
  }
  collective.read(p, opts)
  p.k_step = arguments.k_of_wgmma("wg.gemm", p.dtype)
  p.epilogue = epilogue_plan.read(opts.epilogue or {})
  p.products = p.epilogue.gate and 2 or 1
  local bytes = element_bytes[p.dtype]
  p.d = opts.d or p.epilogue.quantize and "e4m3" or opts.scales and bytes == 1 and "bf16" or result[opts.dtype]
  p.accumulator = (p.dtype == "s8" or p.dtype == "u8") and "s32" or "f32"
  return p, bytes
end

-- Decides whether A and B are swapped. `small_m`: the model's choice for a small M, or nil.
local function swap_operands(p, opts, small_m, possible, M)
  if small_m then p.swapped = small_m.swapped else p.swapped = possible and (opts.swap_ab or M <= 128) end
  p.scales = scales.read(p, opts.scales)
  if not p.swapped then return end
  local e = p.epilogue
  p.a_major, p.b_major = p.b_major, p.a_major
  if p.constant then p.constant = p.constant == "A" and "B" or "A" end
  if e.bias then e.bias = e.bias == "row" and "column" or "row" end
end

-- Where D's panels go, and what of the epilogue is in shared memory.
local function plan_output(p, opts)
  local e = p.epilogue
  p.panel = wg.panel { dtype = p.d, n = p.dsmem and p.dsmem.columns or p.n, transposed = p.swapped }
  epilogue_plan.check(p)
  -- Vectors along columns of D, which the epilogue finds in shared memory.
  p.vectors = 0
  for _, along in ipairs { e.bias or "", p.scales.a_scales or "", p.scales.b_scales or "" } do
    if along == "column" then p.vectors = p.vectors + p.products end
  end
  -- A residual that is loaded while the other consumer multiplies needs room for it.
  local panels = p.pingpong and (e.beta or e.residual) and 4 or 2
  p.buffers = math.min(opts.buffers or panels, p.panel.count)
end

local mainloop_of = {
  sparse = sparse, block_scaled = block_scaled, grouped = dense, emulated = emulated, dense = dense,
}

--- The plan for the options of wg.gemm.
function module.make(given)
  local opts = options("wg.gemm", given)
  if opts.b_type then return mixed_input_plan.make(given) end
  local p, bytes = begin(opts)
  local problem = opts.problem or { 4096, 4096, 4096 }
  for i = 1, 3 do whole(p, ("problem[%d]"):format(i), problem[i], 1, 0x7FFFFFFF) end
  local M, N, K = problem[1], problem[2], problem[3]
  local groups = p.groups and whole(p, "problem[4]", problem[4] or 1, 1, 0xFFFF) or nil
  local kind = module.kind(opts)
  p.kind = mainloop_of[kind]
  local swappable = may_swap(p, opts.swap_ab)
  local cluster_m, cluster_n = order.cluster_of("wg.gemm", opts.cluster)
  local may_be_small_m = opts.problem and (kind == "dense" or kind == "block_scaled") and opts.schedule ~= "pingpong"
    and cluster_m * cluster_n == 1
    and not (opts.last_splits or opts.groups or opts.stream_k or opts.halves or opts.collective)
  local function choose_small_m(tile, swap)
    if not may_be_small_m then return nil end
    local given = {
      splits = opts.splits, tile = tile, swap = swap, cluster = opts.cluster, block_scaled = kind == "block_scaled",
      a_major = opts.a_major, b_major = opts.b_major,
    }
    return small_m_plan.tiles(p, M, N, K, bytes, given)
  end
  if not swappable then p.swap = false else p.swap = opts.swap_ab end -- nil: whichever is faster
  local small_m = not opts.tile and choose_small_m(nil, p.swap) or nil
  swap_operands(p, opts, small_m, swappable, M)

  local schedule = opts.schedule
    or ((small_m or opts.tile or p.swapped or opts.splits or opts.stream_k or opts.halves or kind == "sparse"
      or kind == "block_scaled" or kind == "emulated") and "cooperative")
  p.pingpong = schedule == "pingpong"
  if kind == "block_scaled" then exclusions.refuse_conflicts(p, "block_scales") end
  if kind == "emulated" then exclusions.refuse_conflicts(p, "emulated", given) end
  local chosen = choose(p, M, N, K, bytes, schedule, kind, groups, opts)
  if not (chosen or opts.tile) then
    fail(("wg.gemm: no tile is known for schedule = \"%s\" here: give a `tile`"):format(schedule))
  end
  p.schedule = schedule or chosen.schedule
  mainloop_plan.set_tile(p, tile_of(p, M, bytes, opts.tile or small_m and small_m.tile, chosen))
  if opts.tile then small_m = choose_small_m({ p.m, p.n, p.block_k }, p.swapped) end
  local of_choice = not opts.tile and (small_m or chosen).cluster
  if of_choice then cluster_m, cluster_n = of_choice[1], of_choice[2] end
  mainloop_plan.set_cluster(p, cluster_m, cluster_n)

  p.kind.plan(p)
  p.splits = small_m and small_m.splits or (kind == "block_scaled" or p.groups) and (opts.splits or 1)
    or splits_of(p, opts, M, N, K, bytes, chosen)
  p.stream_k = opts.stream_k or false
  p.tail_m, p.last_splits = tail_m_of(p, opts), last_splits_of(p, opts)
  exclusions.check_choices(p, given)
  p.scheduler = p.collective and shards or p.groups and scheduler_groups or p.stream_k and stream_k or scheduler_tiles
  p.slices = p.stream_k and 2 or math.max(p.splits, p.last_splits) -- into which a tile's K is cut, where it is
  p.dsmem = cluster.dsmem_of(p)
  p.partials = p.slices > 1 and not p.dsmem -- whether sums of parts go through global memory
  p.reduction = p.scatter or p.dsmem and cluster or p.partials and memory or nil
  p.limits = p.groups or p.gather -- whether a tile may have rows that are not stored
  if kind == "block_scaled" and p.splits > 1 and not p.dsmem then
    fail("wg.gemm: with block scales `splits` is at most 8, without `groups` and `cluster`, and of a `tile` whose "
      .. "sums fit into shared memory")
  end
  -- Not in clusters, whose CTAs must load the same block of the shared operand at the same time.
  p.k_offset = p.swapped and M <= 16 and p.splits == 1 and p.cluster == 1 and not p.stream_k
  local tile_rows = ceil_div(ceil_div(M, groups or 1), p.m * cluster_m)
  p.group = opts.group or rows_in_order(p, kind, tile_rows)
  -- Operands that the L2 cache evicts first, because they are used once: A where a tile has all columns of D, and a D
  -- that would fill more than half of the cache.
  p.evict_first = { A = p.swapped and M <= p.n, D = opts.problem and M * N * element_bytes[p.d] > target.l2 // 2 }
  p.edges = edges_of(p, opts, bytes)

  plan_output(p, opts)
  p.tail_n = scheduler_groups.tail_n(p, opts.halves)
  mainloop_plan.set_operands(p)
  local of_consumer = p.buffers * p.panel.bytes + 4 * p.n * p.vectors + (p.dsmem and p.dsmem.bytes or 0)
  local others = p.consumers * of_consumer + (p.gather and p.gather.bytes or 0)
  mainloop_plan.set_stages(p, others, opts.stages, opts.registers)
  epilogue_plan.plan_residual(p)
  return p
end

return module
