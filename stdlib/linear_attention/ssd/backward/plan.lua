-- The plan of wg.ssd_backward: tiles, stages, registers, and how CTAs share the heads of a group, from the options.

local wg = require "wgrun"
local roofline = require "wgrun.cost.roofline"
local ssd_plan = require "wgrun.linear_attention.ssd.plan"
local native = require "wgrun.native"

local module = {}

-- How many CTAs share the heads of a group in each chunk: what is given, or the fewest that give all SMs work.
local function slices_of(p, opts)
  local heads = p.heads // p.qk_heads
  if opts.slices then
    if heads % opts.slices ~= 0 then
      native.fail(("wg.ssd_backward: %d slices cannot share the %d heads of a group: slices must divide them"):format(
        opts.slices, heads))
    end
    return opts.slices
  end
  local problem = opts.problem
  local ctas = problem and (problem[1] + p.chunk - 1) // p.chunk * (problem[2] or 1) * p.qk_heads or roofline.sms()
  for slices = 1, heads do
    if heads % slices == 0 and (slices == heads or ctas * slices >= roofline.sms() * 7 // 8) then return slices end
  end
end

-- Cycles of a chunk of states and of a summary, of a second launch, and of each segment that is carried over
-- (docs/experiments/ssd.md); bytes that memory moves in a cycle.
local cycles = { chunk = 1150, summary = 900, launch = 5300, carry = 600, bytes = 1880 }

-- How many segments each sequence has for the states: what is given, or what takes the least time, where the numbers
-- of tokens and sequences are known. No more CTAs than two for each SM.
local function segments_of(p, opts)
  local problem = opts.problem
  if opts.segments or not problem then return opts.segments or 1 end
  local chunks, ctas = (problem[1] + p.chunk - 1) // p.chunk, 2 * p.heads * p.head_units * (problem[2] or 1)
  local best, least = 1, math.huge
  for segments = 1, math.max(1, math.min(64, chunks, 2 * roofline.sms() // ctas)) do
    local function time(of_chunk, bytes)
      return (chunks + segments - 1) // segments * math.max(of_chunk, ctas * segments * bytes / cycles.bytes)
    end
    local total = time(cycles.chunk, p.v.bytes + p.k.bytes)
    if segments > 1 then
      total = total + time(cycles.summary, p.v.bytes) + cycles.launch + segments * cycles.carry
    end
    if total < least then best, least = segments, total end
  end
  return best
end

--- The plan for the options of wg.ssd_backward. K and Q of what it shares with linear attention are B and C, V is x.
function module.make(given)
  local p, opts = ssd_plan.base("wg.ssd_backward", given)
  p.segments = 1
  p.head_units = p.value_dim // p.columns -- of a head: units of 64 columns
  p.slices, p.state_segments = slices_of(p, opts), segments_of(p, opts)
  p.units = p.heads // p.qk_heads // p.slices * p.head_units -- of a CTA
  p.v_columns = p.tile(p.columns, p.chunk, "MN", "K")
  p.state_bytes = p.k.bytes -- 64 columns of x by dstate, as bytes of a tile like those of B
  p.matrix = wg.panel { dtype = p.dtype, n = p.dim } -- a state as it is stored
  p.panel = wg.panel { dtype = p.dtype, n = p.columns } -- of dx and y
  p.fields = 1 + (p.dt_bias and 1 or 0) + (p.D and p.d_columns or 0) -- sums over tokens that a head has
  p.stages, p.registers = 3, { service = 40, side = 232 }
  p.gates = { "i", "j", "dt", "slope", "scaled", "rest", bytes = 6 * 4 * p.chunk } -- chunk_arrays.lua
  p.sums = { "row", "column", "state", bytes = 3 * 4 * p.chunk + 16 } -- and the product of states, token_sums.lua
  return p
end

--- The plan of the kernel that stores the states, for that of the main kernel.
function module.of_states(p)
  return setmetatable({
    name = p.name .. "_states", stages = 3, units = 1, gated = 1,
    gates = { "rest", "scaled", "sum", bytes = 3 * 4 * p.chunk }, segments = p.state_segments, -- states.lua
  }, { __index = p })
end

--- The plan of the kernel that sums segments up, for that of the one that stores the states.
function module.of_summary(of_states, name)
  return setmetatable({ summary = true, name = name }, { __index = of_states })
end

return module
