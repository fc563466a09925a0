-- The plan of wg.gemm{ b_type = }: tile, slices of K and stages for weights of 4 or 8 bits.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local plan = require "wgrun.epilogue.plan"
local exclusions = require "wgrun.mainloop.exclusions"
local scales = require "wgrun.mainloop.scales"
local fp4 = require "wgrun.mixed_input.fp4"
local packed = require "wgrun.mixed_input.packed"
local mixed_input_time = require "wgrun.mixed_input.time"
local native = require "wgrun.native"
local memory = require "wgrun.reduction.memory"
local warpgroups = require "wgrun.reduction.warpgroups"
local equal_shares = require "wgrun.scheduler.equal_shares"
local grid = require "wgrun.scheduler.grid"

local module = {}

local fail, options, target = native.fail, arguments.options, wg.target
local ceil_div = roofline.ceil_div
local block_rows = 64 -- of weights: a warpgroup's
local most_rows = 256 -- of A that one CTA multiplies by, which is the largest n of wgmma

-- What follows from the tile, its slices of K and the epilogue: fields of the plan. Shared memory holds the stages, the
-- sums that the CTAs of a cluster send each other, and D's panels. A panel lies where the sums were, unless C comes to
-- it by a copy, which would have to be ordered after the sums have been read, or the next tile's sums may come before
-- it is stored.
local function complete(p)
  p.slice_k = math.min(p.block_k, 128) -- of a warpgroup
  p.k_slices, p.blocks = p.block_k // p.slice_k, p.m // block_rows
  p.consumers = p.blocks * p.k_slices
  p.sum_bytes = block_rows * p.n * 4 -- of a warpgroup
  p.scales_sums = p.n <= 64 and p.group_size % p.slice_k == 0 -- rather than each weight
  -- of K, which are converted and then multiplied at a time
  p.steps = p.step_k == 16 and p.n <= (p.bits == 4 and 32 or 16) and p.slice_k == 128 and 4 or 2
  p.a = wg.tile { dtype = p.dtype, mn = p.n, k = p.block_k, major = "K", order = "MN" }
  p.panel = p.d and wg.panel { dtype = p.d, n = p.n, transposed = true } -- without a D, panels are a script's own
  p.unit_bytes, p.factor_bytes = packed.unit_bytes(p.b_type), packed.factor_bytes(p.b_type, p.dtype)
  p.bytes_of_k = p.unit_bytes * p.bits // 256 -- of 64 rows, for each element of K
  p.weight_bytes = p.bytes_of_k * p.block_k -- of 64 rows in a stage
  p.groups_of_slice = math.max(1, p.slice_k // p.group_size)
  -- slices that lie in one group have a copy each of its scales
  p.scale_copies = p.group_size > p.slice_k and p.k_slices or 1
  p.slice_scale_bytes = p.groups_of_slice * p.m * 2
  p.scale_bytes = p.fp4 and 0 or p.k_slices * p.slice_scale_bytes
  p.slices = p.splits * p.k_slices -- of a tile's sums
  p.owned = ceil_div(p.blocks, p.splits) -- blocks of 64 rows that a CTA puts together and stores
  local received = (p.slices - 1) * p.sum_bytes -- for each of them
  p.panel_offset = (p.epilogue.beta or p.epilogue.residual or p.stream_k) and received or 0
  p.sums_bytes = math.max(received, p.panel_offset + (p.panel and p.panel.bytes or 0))
  p.stage_bytes = p.blocks * p.weight_bytes + p.a.bytes + (p.zeros and 2 or 1) * p.scale_bytes
  p.room = target.cta_shared - p.others - p.owned * p.sums_bytes - 2048 -- the rest for alignment and barriers
  return p
end

-- The values of a tile that are given, or those that may be chosen.
local function rows_of(what, given)
  if given == nil then return { 64, 128 } end
  if given ~= 64 and given ~= 128 then
    fail(("%s: tile[1] is %s, must be 64 or 128 with b_type: the rows of B"):format(what, tostring(given)))
  end
  return { given }
end
local function widths_of(what, given, M)
  if given == nil then
    local list, fewest = {}, ceil_div(M, most_rows)
    if fewest > 8 then return { 128, 192, 256 } end -- little of so many tiles lies outside, and these were measured
    for tiles = fewest, math.max(fewest, math.min(4 * fewest, ceil_div(M, 64))) do
      list[#list + 1] = ceil_div(ceil_div(M, tiles), 8) * 8
    end
    return list
  end
  arguments.whole(what .. ": tile[2]", given, 8, most_rows)
  if given % 8 ~= 0 then
    fail(("%s: tile[2] is %d, must be a multiple of 8 with b_type: the rows of A"):format(what, given))
  end
  return { given }
end
local function block_of(what, given, m, n, dtype)
  -- Where sums are few, four warpgroups share the tile, each with 64 rows and a slice of a block of K: converting takes
  -- many warps.
  local least = dtype == "e4m3" and 128 or 64 -- a panel of A
  local block = given or math.max((n <= 48 and 256 or n <= 128 and 128 or 64) * (128 // m), least)
  if block ~= 64 and block ~= 128 and block ~= 256 and (block ~= 512 or m == 128) or block < least then
    fail(("%s: tile[3] is %s, must be %s128, 256 or, with 64 rows of B, 512 with %s"):format(
      what, tostring(block), least == 64 and "64, " or "", least == 64 and "b_type" or "an A of e4m3"))
  end
  return block
end
local function splits_of(what, opts)
  if opts.splits ~= nil then
    local splits = arguments.whole(what .. ": splits", opts.splits, 1, target.portable_cluster)
    return { splits }
  end
  return opts.stream_k and { 1 } or { 1, 2, 3, 4, 5, 6, 7, 8 }
end

-- The tile, its slices of K, and the stages: among those that go with the options, the fastest by a model of the time
-- (mixed_input/time.lua). The weights are wgmma's A: a tile has 64 or 128 rows of them, which are columns of D, and n
-- rows of A.
local function choose(p, opts, M, N, K)
  local tile, best, least, single, last = opts.tile or {}, nil, math.huge, nil, nil
  for _, n in ipairs(widths_of(p.what, tile[2], M)) do
    for _, m in ipairs(rows_of(p.what, tile[1])) do
      local block_k = block_of(p.what, tile[3], m, n, p.dtype)
      local function try(splits, stream_k)
        local candidate = complete(
          setmetatable({ n = n, m = m, block_k = block_k, splits = splits, stream_k = stream_k }, { __index = p }))
        last = candidate
        if candidate.room < 2 * candidate.stage_bytes then return end
        if splits == 1 then single = candidate end
        if ceil_div(K, block_k) < (opts.splits and 1 or 2) * splits then return end
        local time = mixed_input_time.microseconds(candidate, M, N, K)
        if time < least then best, least = candidate, time end
      end
      for _, splits in ipairs(splits_of(p.what, opts)) do
        if not (splits == 1 and opts.stream_k) then try(splits, false) end
      end
      if opts.stream_k ~= false and (opts.stream_k or not opts.splits) then try(1, true) end
    end
  end
  best = best or single or last -- single: K has one block
  for key, value in pairs(best) do p[key] = value end
  if p.room < 2 * p.stage_bytes then
    fail((
      "%s: two stages take %d bytes, and %d bytes of shared memory are left: fewer splits or a smaller tile"
    ):format(p.what, 2 * p.stage_bytes, p.room))
  end
  local most = p.room // p.stage_bytes
  p.stages = arguments.whole(p.what .. ": stages", opts.stages or math.min(16, most), 2, math.min(32, most))
  -- rows of A: boxes of so many come sooner than boxes with rows outside
  if M < p.n and p.n <= 32 then p.small_m = M end
end

local function group_of(what, given, format)
  if format then return format.group_size end
  local group = arguments.whole(what .. ": group_size", given or 128, 32, 1 << 30)
  if group ~= 32 and group ~= 64 and group % 128 ~= 0 then
    fail(("%s: group_size is %d, must be 32, 64 or a multiple of 128 with b_type"):format(what, group))
  end
  return group
end

-- Blocks of weights that are fetched before A is there: `ahead` into the ring, `prefetched` behind them into the L2
-- cache, and `prefetched_next` of the next launch's into the L2 cache, at the end of this one. More than memory brings
-- until A is there would keep the first blocks waiting, which are wanted first (docs/experiments/
-- mixed_input.md). With 8 rows a launch's own prefetches are better than those of the launch before.
local function choose_ahead(p)
  p.ahead = p.m == 64 and p.n > 16 and 1 or 2
  p.prefetched_next = p.next and p.n > 8 and (p.bits == 8 and 1 or p.n > 16 and 2 or 3) or 0
  local own = p.bits == 8 and (p.n <= 32 and 1 or 0) or p.n == 8 and 2 or p.n <= 24 and 1 or 0
  p.prefetched = p.constant and p.prefetched_next == 0 and own or 0
end

-- A plan with the options of `what` for the operands.
local function begin(what, opts)
  local dtype = opts.a_type or "bf16"
  local format = fp4.format(opts.b_type, dtype)
  return {
    what = what, mixed_input = true, swapped = true, products = 1, cluster = 1, cluster_m = 1, cluster_n = 1,
    last_splits = 1, name = opts.name or "gemm", dtype = dtype, b_type = opts.b_type,
    bits = packed.bits(what, opts.b_type), element_bytes = native.element_bytes[dtype],
    step_k = arguments.k_of_wgmma(what, dtype), zeros = opts.zeros or false,
    fp4 = format, group_size = group_of(what, opts.group_size, format), scales = {}, epilogue = {}, accumulator = "f32",
    vectors = 0,
    others = opts.shared or 0, constant = opts.constant, next = opts.next, splits = opts.splits,
    stream_k = opts.stream_k, sparse = opts.sparse, groups = opts.groups,
  }
end

-- Adds what follows from the problem: tile, slices of K and stages, and from these.
local function finish(p, opts, M, N, K)
  choose(p, opts, M, N, K)
  p.width, p.round_k = p.n, p.block_k
  p.scheduler = p.stream_k and equal_shares or grid
  p.reductions = { p.slices > 1 and warpgroups or nil }
  if p.stream_k then p.reductions[#p.reductions + 1] = memory end
  choose_ahead(p)
  -- A warp that copies besides the consumers; of a warpgroup that gives them its registers, where the sums take many.
  p.registers = p.n > 128 and { 24, 240 } or nil
  p.threads = 128 * p.consumers + (p.registers and 128 or 32)
  return p
end

--- The plan for the options of wg.gemm with a b_type.
function module.make(opts)
  options("wg.gemm", opts)
  opts = arguments.renamed("wg.gemm with b_type", opts, "group", "group_size")
  local p = begin("wg.gemm", opts)
  p.d, p.epilogue = opts.d or p.dtype == "e4m3" and "bf16" or p.dtype, plan.read(opts.epilogue or {})
  p.scales = scales.read(p, opts.scales)
  exclusions.check_choices(p, opts)
  if p.epilogue.bias then p.epilogue.bias = p.epilogue.bias == "row" and "column" or "row" end -- of D's transpose
  local problem = opts.problem or { 16, 8192, 8192 }
  for i = 1, 3 do arguments.whole(("wg.gemm: problem[%d]"):format(i), problem[i], 1, 0x7FFFFFFF) end
  return finish(p, opts, problem[1], problem[2], problem[3])
end

--- The plan for the options of wg.mainloop.mixed_input, whose tile is given.
function module.make_loop(opts)
  local p, tile = begin("wg.mainloop.mixed_input", opts), opts.tile
  exclusions.check_choices(p)
  local chosen = {
    tile = { tile[1] or false, tile[2] or false, tile[3] }, stages = opts.stages, stream_k = opts.stream_k,
    splits = not opts.stream_k and opts.splits or nil,
  }
  return finish(p, chosen, math.tointeger(tile[2]) or 1, 8192, 8192)
end

return module
