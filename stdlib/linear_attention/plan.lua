-- The plan of wg.delta_rule: tiles, stages and registers, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

-- How many segments take the least time, where the numbers of tokens and sequences are known: as many as the SMs can
-- work on in one round, since the second round of a few CTAs would take as long as the first. Segments of few chunks
-- are not worth it, nor are two of packed sequences, nor four where the preparation would otherwise run at the same
-- time (docs/experiments/linear_attention.md).
local function segments_for(p, problem)
  local tokens, batch = problem[1], problem[2] or 1
  local ctas = p.dim // p.columns * p.heads * batch -- for each segment
  local segments = math.min(roofline.sms() // ctas, tokens // (8 * p.chunk))
  return segments > (p.by_channel and 4 or p.packed and 2 or 1) and segments or 1
end

--- The plan for the options of the function `what`, which have been checked one by one.
function module.make(what, opts)
  local p = { what = what, layout = "bshd", dim = 128, value_dim = 128, chunk = 64, columns = 64 }
  for _, name in ipairs {
    "dtype", "packed", "heads", "initial_state", "final_state", "state_layout", "decay", "g_dtype", "name",
  } do
    p[name] = opts[name]
  end
  p.o, p.by_channel = p.dtype, p.decay == "channel"
  if p.by_channel and p.dtype ~= "bf16" then
    native.fail(('%s: decay = "channel" requires bf16, not %s: products of K and decays leave its range'):
      format(what, p.dtype))
  end
  p.qk_heads = arguments.whole(what .. ": qk_heads", opts.qk_heads or p.heads, 1, p.heads)
  if p.heads % p.qk_heads ~= 0 then
    native.fail(("%s: %d heads cannot share %d heads of Q and K: qk_heads must divide heads"):format(
      what, p.heads, p.qk_heads))
  end
  for i = 1, opts.problem and (opts.problem[2] == nil and 1 or 2) or 0 do
    arguments.whole(("%s: problem[%d]"):format(what, i), opts.problem[i], 1, 0x3FFFFFFF)
  end
  p.segments = opts.segments or opts.problem and segments_for(p, opts.problem) or 1
  local function tile(mn, columns, major, order)
    return wg.tile { dtype = p.dtype, mn = mn, k = columns, major = major, order = order, swizzle = "128B" }
  end
  p.k = tile(p.chunk, p.dim, "K")               -- Q and K: a row for each token
  p.k_columns = tile(p.dim, p.chunk, "MN", "K") -- the same bytes, read along the tokens
  p.v = tile(p.chunk, p.columns, "K")
  p.t = tile(p.chunk, p.chunk, "K")             -- T and P
  p.t_columns = tile(p.chunk, p.chunk, "MN", "K")
  p.panel = wg.panel { dtype = p.o, n = p.chunk, transposed = true }
  p.lines = { dtype = p.dtype, columns = 64, line_bytes = 128 }
  p.stages, p.v_stages, p.t_stages = 4, 2, 2
  p.gates = { "sum", "beta", "decay", "scaled", "rest", bytes = 5 * 4 * p.chunk }
  p.with_p, p.with_o = true, true -- whether a kernel needs P, and has O
  p.passes = p.segments > 1       -- whether it finds the state before its segment
  p.preparers, p.sharing = 2, p.dim // p.columns -- preparing warpgroups of a CTA; the CTAs of a cluster, with a head
  if p.by_channel then -- a kernel of its own prepares (linear_attention/channel_preparation.lua)
    p.preparers, p.sharing, p.stages, p.decay_bytes = 0, 1, 3, 4 * p.dim
    p.overlaps = p.segments == 1 -- that kernel and the main one, which waits for each record
  end
  p.kinds = 1 -- warpgroups of a CTA that have states
  p.makes_t = not p.by_channel and p.segments == 1
  if not p.by_channel and p.segments > 1 then -- the summary makes T, for both: there is no N, and room for P
    p.t_stages = p.preparers * p.sharing
  end
  p.threads, p.registers = 128 * (2 + p.preparers), { copies = 40, recurrence = 232, preparation = 120 }
  return p
end

--- The plan of the kernel that sums segments up (linear_attention/segments.lua), for the plan of the main kernel.
function module.of_summary(p)
  return setmetatable({
    kinds = 2, threads = p.threads + 128, registers = p.by_channel and { copies = 40, recurrence = 232 }
      or { copies = 32, recurrence = 160, preparation = 64 },
    stages = p.by_channel and p.stages or 8, t_stages = p.preparers * p.sharing, makes_t = not p.by_channel,
    summary = true, whole = true, leads = true, with_p = false, with_o = false, passes = false,
    name = p.name .. "_summary",
  }, { __index = p })
end

return module
