-- The plan of wg.ssd: tiles, stages and registers, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

-- Cycles of a CTA of one head or two (docs/experiments/ssd.md): for a chunk, for that of a summary, and until the first
-- one; and those of a second launch, and of each segment whose state is added up.
local cycles = {
  chunk = { 1890, 2800 }, summary = { 880, 1190 }, start = { 4900, 10500 }, launch = 5300, add = 530,
}

-- How a CTA has its heads, and how many segments there are: what is given, or what takes the least time, where the
-- numbers of tokens and sequences are known. Segments have no more CTAs than there are SMs.
local function divide(p, opts)
  local problem, may_pair = opts.problem, p.value_dim == p.columns and p.heads // p.qk_heads % 2 == 0
  if opts.pairs and not may_pair then
    native.fail "wg.ssd: pairs require headdim = 64, and an even number of heads in each group"
  end
  local chunks = problem and (problem[1] + p.chunk - 1) // p.chunk or 1
  local function ctas(heads) return p.heads // heads * (problem and problem[2] or 1) end
  local function time(heads, segments)
    local each = (chunks + segments - 1) // segments
    local function round_of(count, chunk_cycles)
      return (count + roofline.sms() - 1) // roofline.sms() * (each * chunk_cycles + cycles.start[heads])
    end
    local main = round_of(ctas(heads) * segments, cycles.chunk[heads])
    if segments == 1 then return main end
    local summary = round_of(ctas(heads) * (segments - 1), cycles.summary[heads])
    return main + summary + cycles.launch + segments * cycles.add
  end
  local least = math.huge
  for heads = opts.pairs and 2 or 1, may_pair and opts.pairs ~= false and 2 or 1 do
    local most = opts.segments or problem and math.min(64, chunks, roofline.sms() // ctas(heads)) or 1
    for segments = opts.segments or 1, math.max(most, 1) do
      local needed = time(heads, segments)
      if needed < least then least, p.gated, p.segments = needed, heads, segments end -- heads, which have gates and P
    end
  end
  p.units = p.gated * (p.value_dim // p.columns)
  p.multicast = p.heads // p.qk_heads % (2 * p.gated) == 0 and 2 or 1 -- CTAs, a cluster, that get B and C by one copy
end

-- The smallest and the largest dt.
local function limits_of(what, given)
  local least, most = given[1], given[2]
  local legal = #given == 2 and type(least) == "number" and type(most) == "number" and 0 <= least and least <= most
  if not legal then
    native.fail(
      what .. ": dt_limit must be two numbers, the smallest dt and the largest one, from 0 on: { 0, math.huge }")
  end
  return { least, most }
end

--- What the plans for the options of wg.ssd and of its gradients have in common; what: the name of the function. K and
--- Q of what they share with wg.delta_rule are B and C, V is x.
function module.base(what, opts)
  opts = arguments.options(what, opts)
  local p = { what = what, layout = "bshd", chunk = 64, columns = 64, state_layout = "vk" }
  for _, name in ipairs {
    "dtype", "packed", "heads", "initial_state", "final_state", "name", "dt_dtype", "dt_softplus", "dt_bias", "D", "z",
  } do
    p[name] = opts[name]
  end
  p.dim, p.value_dim, p.o = opts.dstate, opts.headdim, p.dtype
  p.d_columns = p.D == "headdim" and p.value_dim or 1 -- of D, for each head
  p.dt_limit = limits_of(what, opts.dt_limit or { 0, math.huge })
  p.qk_heads = arguments.whole(what .. ": groups", opts.groups, 1, p.heads)
  if p.heads % p.qk_heads ~= 0 then
    native.fail(("%s: %d heads cannot share %d groups of B and C: groups must divide heads"):format(
      what, p.heads, p.qk_heads))
  end
  for i = 1, opts.problem and (opts.problem[2] == nil and 1 or 2) or 0 do
    arguments.whole(("%s: problem[%d]"):format(what, i), opts.problem[i], 1, 0x3FFFFFFF)
  end
  function p.tile(mn, columns, major, order)
    return wg.tile { dtype = p.dtype, mn = mn, k = columns, major = major, order = order, swizzle = "128B" }
  end
  p.k = p.tile(p.chunk, p.dim, "K")               -- B and C: a row for each token
  p.k_columns = p.tile(p.dim, p.chunk, "MN", "K") -- the same bytes, read along the tokens
  p.v = p.tile(p.chunk, p.columns, "K")           -- x
  p.lines = { dtype = p.dtype, columns = 64, line_bytes = 128 }
  return p, opts
end

--- The extents of D.
function module.shape_of_skip(p) return { p.heads, p.D == "headdim" and p.value_dim or nil } end

--- The plan for the options of wg.ssd.
function module.make(given)
  local p, opts = module.base("wg.ssd", given)
  divide(p, opts)
  p.t = p.tile(p.chunk, p.chunk, "K") -- P
  p.panel = wg.panel { dtype = p.o, n = p.chunk, transposed = true }
  p.matrix = wg.panel { dtype = p.dtype, n = p.chunk } -- as P is stored
  p.stages, p.p_stages = p.units == 1 and 4 or p.z and p.dim == 128 and 2 or 3, 2
  p.gates = { "sum", "source", "scaled", "rest", "before", bytes = 8 * 4 * p.chunk } -- before: four arrays
  p.threads = 128 * (2 + p.units)
  p.registers = p.units == 1 and { copies = 40, recurrence = 232, preparation = 112 }
    or { copies = 32, recurrence = 200, preparation = 80 }
  return p
end

--- The plan of the kernel that sums segments up, for the plan of the main kernel. B of dstate = 64 is one box, which
--- CTAs cannot share (linear_attention/copies.lua).
function module.of_summary(p)
  return setmetatable({
    summary = true, z = false, name = p.name .. "_summary", threads = 128 * (1 + p.units),
    multicast = p.dim == 64 and 1 or p.multicast,
  }, { __index = p })
end

return module
