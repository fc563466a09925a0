-- The plan of wg.attention: tiles, stages and registers for a head size, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local decode_plan = require "wgrun.attention.decode.plan"
local exclusions = require "wgrun.attention.exclusions"
local attention_options = require "wgrun.attention.options"
local pages = require "wgrun.attention.pages"
local splits = require "wgrun.attention.splits"
local fitted = require "wgrun.cost.fitted"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fail, options = native.fail, arguments.options

-- By head size: warpgroups of 64 queries each, keys in a block, stages of K and of V, and of the queries. As fast as
-- any that were measured (docs/experiments/attention.md).
--
-- Of 512 columns (`split_columns`) O of 64 queries takes the registers of two consumers. Each computes all scores, and
-- has half of the columns of V and O. The two CTAs of a cluster have 64 queries each, and get K and V by the same
-- copies. Stages have half of the columns of a block: three of K, and one of V for each consumer.
local shapes = {
  [64] = { consumers = 3, block = 128, stages = 3, query_stages = 2 },
  [96] = { consumers = 2, block = 128, stages = 2, query_stages = 2 },
  [128] = { consumers = 2, block = 128, stages = 2, query_stages = 2 },
  [192] = { consumers = 2, block = 96, stages = 2, query_stages = 1 },
  [256] = { consumers = 2, block = 64, stages = 2, query_stages = 1 },
  [512] = { consumers = 2, block = 64, stages = 3, query_stages = 1, split_columns = true },
}

-- Likewise for 8-bit elements. The warps that transpose V have `chunks` of it on their way.
local fp8_shapes = {
  [64] = { consumers = 3, block = 128, stages = 3, query_stages = 2 },
  [96] = { consumers = 3, block = 96, stages = 3, query_stages = 2 },
  [128] = { consumers = 3, block = 96, stages = 3, query_stages = 2, registers = { 32, 160 }, chunks = 2 },
  [192] = { consumers = 2, block = 128, stages = 2, query_stages = 1 },
  [256] = { consumers = 2, block = 96, stages = 2, query_stages = 1 },
}

-- By head size and that of V, where a narrower V leaves room for more keys or consumers than `shapes` have. Not
-- measured: chosen by the timeline's model (docs/experiments/attention.md).
local longer, three = { consumers = 2, block = 128, stages = 2, query_stages = 1 },
  { consumers = 3, block = 128, stages = 2, query_stages = 2 }
local narrow_shapes = {
  [96] = { [64] = three }, [128] = { [64] = three }, [192] = { [64] = longer, [96] = longer, [128] = longer },
}

-- Whether tiles of 128 queries take less time than those of 192, which take longer: in rounds of a tile for each
-- SM, or, where the number of sequences is not known, for one sequence and head.
local function small_tiles_faster(problem, heads)
  local function time(rows)
    local tiles = roofline.ceil_div(problem[1], rows)
    return problem[3] and roofline.ceil_div(tiles * heads * problem[3], roofline.sms()) or tiles
  end
  return time(128) < fitted.attention.wide * time(192)
end

-- The shape for head sizes. Tiles of 192 queries waste much of short sequences: rows beyond the end, and where tiles
-- see different numbers of keys (`uneven`), blocks that few of their rows see.
local function shape_of(p, problem)
  local dim, short = p.dim, problem and problem[1] <= 1536
  if p.fp8 then
    if short and (dim == 64 and p.uneven or dim == 96 or dim == 128) then
      return { consumers = 2, block = 128, stages = dim == 64 and 2 or 3, query_stages = 2 }
    end
    -- Sums of fewer columns leave registers for the warps that transpose.
    return fp8_shapes[dim == 128 and p.value_dim < 128 and 96 or dim]
  end
  local shape = narrow_shapes[dim] and narrow_shapes[dim][p.value_dim] or shapes[dim]
  local small = short
  if not p.uneven then small = problem and small_tiles_faster(problem, p.heads) end
  if small and shape.consumers == 3 then return { consumers = 2, block = 128, stages = 3, query_stages = 2 } end
  return shape
end

-- The type of O: that of the others, or bf16 where they are 8 bits.
local function type_of_o(p, given)
  return given or p.fp8 and "bf16" or p.dtype
end

-- How many panels each consumer has for O: as many as fit into `left` bytes, in equal rounds.
local function panels_of(p, left)
  for panels = p.panel.count, 1, -1 do
    if p.panel.count % panels == 0 and panels * p.panel.bytes * p.consumers <= left then return panels end
  end
  return 1
end

-- The longest line of a swizzle that divides `bytes`.
local function line_of(bytes) return bytes % 128 == 0 and 128 or bytes % 64 == 0 and 64 or 32 end

-- Tiles in shared memory. The panels of O take the place of the queries; 8-bit queries are smaller, so that O has its
-- own.
local function lay_out(p)
  local bytes = native.element_bytes[p.dtype]
  local function tile(rows, columns)
    return wg.tile { dtype = p.dtype, mn = rows, k = columns, major = "K", swizzle = line_of(columns * bytes) .. "B" }
  end
  local function lines(columns)
    local line = line_of(columns * bytes)
    return { dtype = p.dtype, columns = line // bytes, line_bytes = line }
  end
  p.panel = wg.panel { dtype = p.o, n = p.columns }
  p.lines, p.value_lines = lines(p.dim), lines(p.value_dim)
  p.q, p.k = tile(64, p.dim), tile(p.block, p.dim // p.parts)
  p.v = p.fp8 and tile(p.value_dim + p.ones, p.block)
    or wg.tile {
      dtype = p.dtype, mn = p.columns, k = p.block, major = "MN", order = "K",
      swizzle = p.value_lines.line_bytes .. "B",
    }
  p.panels = p.panel.count
  p.raw = p.fp8 and tile(p.block, p.value_dim) -- V before it is transposed
  local most, of_stage = wg.target.cta_shared - 1024 - (p.join and p.join.maxima or 0),
    p.k.bytes + p.v.bytes + (p.raw and p.raw.bytes or 0)
  local queries, of_panel = p.query_stages * p.query_tiles * p.q.bytes, p.fp8 and p.panel.bytes * p.consumers or 0
  local function used_with(panels)
    if p.split_columns then return queries + p.stages * p.k.bytes + 2 * p.v.bytes end
    return queries + p.stages * of_stage + panels * of_panel
  end
  while p.stages > 2 and used_with(1) > most do p.stages = p.stages - 1 end
  if p.fp8 then p.panels = panels_of(p, most - used_with(0)) end
  local used = used_with(p.panels)
  if used > most then
    fail(
      ("wg.attention: blocks of %d keys take %d bytes of shared memory, and there are %d"):format(p.block, used, most))
  end
end

--- The plan for the options of wg.attention.
function module.make(opts)
  opts = options("wg.attention", opts)
  local function whole(name, value, least, most)
    return arguments.whole("wg.attention: " .. name, value, least, most)
  end
  local p = attention_options.plan("wg.attention", opts)
  p.fp8 = p.dtype == "e4m3"
  p.o = type_of_o(p, opts.o)
  for i = 1, opts.problem and (opts.problem[3] == nil and 2 or 3) or 0 do
    whole(("problem[%d]"):format(i), opts.problem[i], 1, 0x3FFFFFFF)
  end
  p.uneven = p.causal or p.block_mask ~= nil
  local shape = shape_of(p, opts.problem)
  p.consumers, p.stages, p.query_stages = shape.consumers, shape.stages, shape.query_stages
  p.k_step = native.wgmma_k[p.dtype]
  p.page = opts.page
  p.block = whole("block", opts.block or shape.block, p.k_step, 256)
  if p.block % p.k_step ~= 0 then
    fail(("wg.attention: block is %d, must be a multiple of %d (a K step)"):format(p.block, p.k_step))
  end
  p.split_columns = shape.split_columns
  p.columns = p.split_columns and p.value_dim // 2 or p.value_dim -- of each consumer
  p.query_tiles = p.split_columns and 1 or p.consumers
  p.parts = p.split_columns and 2 or 1 -- of a block, in columns: each a stage
  if p.page then exclusions.refuse_conflicts(p, "page") end
  decode_plan.choose_boxes(p, "boxes")
  p.copiers = p.box_rows < p.block and 3 or 1 -- one for each operand, where a block is of several boxes
  p.threads, p.m = 128 * (1 + p.consumers), 64 * p.consumers
  p.registers = p.consumers == 3 and { 32, 160 } or { 40, 232 }
  p.transposers, p.lift, p.ones = 0, 0, 0
  if p.fp8 then
    -- The warps that transpose need registers, for some chunks of V at a time.
    p.registers, p.chunks = shape.registers or p.consumers == 3 and { 56, 152 } or { 56, 224 }, shape.chunks or 3
    -- Three where each has keys of its own lines (32 bytes), two where they share lines.
    p.transposers = p.block % 64 == 0 and 2 or 3
    p.ones = p.lse and 0 or 8 -- rows behind those of V^T: the product with P then sums P up, as it is rounded
    p.lift = 5 -- e4m3 has numbers from 2^-9 to 448, and a maximum may grow
  end
  p.splits = opts.splits and whole("splits", opts.splits, 1, splits.most) or splits.choose(p, opts.problem)
  if p.splits > 1 then
    exclusions.refuse_conflicts(p, "splits")
    p.join, p.query_stages = splits.join_plan(p, p.splits), 1 -- a CTA has one tile
    p.stages = splits.split_stages(p)
  end
  p.cluster = p.split_columns and 2 or p.splits
  lay_out(p)
  p.value_stages = p.split_columns and 2 or p.stages
  pages.choose_copies(p)
  if p.splits == 1 then return p end
  local stage, bytes, room = splits.join_lacks(p, p.splits, p.stages)
  if stage then
    fail((
      "wg.attention: splits is %d, whose other parts bring %d bytes for the stages of %s, and these have %d: other "
        .. "`splits` or a longer `block`"):format(
      p.splits, bytes, stage, room))
  end
  return p
end

return module
