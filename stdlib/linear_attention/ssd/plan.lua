-- The plan of wg.ssd: tiles, stages and registers, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

-- How many segments take the least time, where the numbers of tokens and sequences are known. By a model in cycles
-- (docs/experiments/ssd.md): a CTA takes so many for a chunk, those of the kernel that sums up fewer; that kernel, and
-- each segment whose state is added up, take as long as some chunks.
local chunk_cycles, summary_cycles, launch_cycles, add_cycles = 2000, 800, 8000, 800

local function segments_for(p, problem)
  local tokens, batch = problem[1], problem[2] or 1
  local ctas, chunks, best, least = p.heads // p.gated * batch, (tokens + p.chunk - 1) // p.chunk, 1, math.huge
  local function rounds(count) return (count + roofline.sms() - 1) // roofline.sms() end
  for segments = 1, math.min(64, chunks) do
    local each = (chunks + segments - 1) // segments
    local cycles = rounds(ctas * segments) * each * chunk_cycles
    if segments > 1 then
      local sums = rounds(ctas * (segments - 1)) * each * summary_cycles
      cycles = cycles + sums + launch_cycles + (segments - 1) * add_cycles
    end
    if cycles < least then best, least = segments, cycles end
  end
  return best
end

-- The smallest and the largest dt.
local function limits_of(given)
  local least, most = given[1], given[2]
  local legal = #given == 2 and type(least) == "number" and type(most) == "number" and 0 <= least and least <= most
  if not legal then
    native.fail "wg.ssd: dt_limit must be two numbers, the smallest dt and the largest one, from 0 on: { 0, math.huge }"
  end
  return { least, most }
end

--- The plan for the options of wg.ssd. K and Q of what it shares with wg.delta_rule are B and C, V is x.
function module.make(opts)
  opts = arguments.options("wg.ssd", opts)
  local p = { what = "wg.ssd", layout = "bshd", chunk = 64, columns = 64, state_layout = "vk" }
  for _, name in ipairs {
    "dtype", "packed", "heads", "initial_state", "final_state", "name", "dt_dtype", "dt_softplus", "dt_bias", "D",
  } do
    p[name] = opts[name]
  end
  p.dim, p.value_dim, p.o = opts.dstate, opts.headdim, p.dtype
  p.dt_limit = limits_of(opts.dt_limit or { 0, math.huge })
  p.qk_heads = arguments.whole("wg.ssd: groups", opts.groups, 1, p.heads)
  if p.heads % p.qk_heads ~= 0 then
    native.fail(("wg.ssd: %d heads cannot share %d groups of B and C: groups must divide heads"):format(
      p.heads, p.qk_heads))
  end
  for i = 1, opts.problem and (opts.problem[2] == nil and 1 or 2) or 0 do
    arguments.whole(("wg.ssd: problem[%d]"):format(i), opts.problem[i], 1, 0x3FFFFFFF)
  end
  -- A CTA has one or two units, of 64 columns of a head each: both halves of a wide head, or two heads of a group.
  local wide = p.value_dim > p.columns
  p.units = (wide or p.heads // p.qk_heads % 2 == 0) and 2 or 1
  p.gated = wide and 1 or p.units -- heads, which have gates and P
  p.segments = opts.segments or opts.problem and segments_for(p, opts.problem) or 1
  local function tile(mn, columns, major, order)
    return wg.tile { dtype = p.dtype, mn = mn, k = columns, major = major, order = order, swizzle = "128B" }
  end
  p.k = tile(p.chunk, p.dim, "K")               -- B and C: a row for each token
  p.k_columns = tile(p.dim, p.chunk, "MN", "K") -- the same bytes, read along the tokens
  p.v = tile(p.chunk, p.columns, "K")           -- x
  p.t = tile(p.chunk, p.chunk, "K")             -- P
  p.panel = wg.panel { dtype = p.o, n = p.chunk, transposed = true }
  p.matrix = wg.panel { dtype = p.dtype, n = p.chunk } -- as P is stored
  p.lines = { dtype = p.dtype, columns = 64, line_bytes = 128 }
  p.stages, p.p_stages = 3, 2
  p.gates = { "sum", "source", "scaled", "rest", "before", bytes = 8 * 4 * p.chunk } -- before: four arrays
  p.threads, p.registers = 128 * (2 + p.units), { copies = 40, recurrence = 192, preparation = 88 }
  return p
end

--- The plan of the kernel that sums segments up, for the plan of the main kernel.
function module.of_summary(p)
  return setmetatable({ summary = true, name = p.name .. "_summary", threads = 128 * (1 + p.units) }, { __index = p })
end

return module
