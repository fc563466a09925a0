-- The plan of wg.delta_rule: tiles, stages and registers, from the options.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local native = require "wgrun.native"

local module = {}

--- The plan for the options of wg.delta_rule.
function module.make(opts)
  opts = arguments.options("wg.delta_rule", opts)
  local p = { what = "wg.delta_rule", layout = "bshd", dim = 128, chunk = 64, columns = 64 }
  for _, name in ipairs { "dtype", "packed", "heads", "initial_state", "final_state", "state_layout", "name", "segments" } do
    p[name] = opts[name]
  end
  p.o = p.dtype
  p.qk_heads = arguments.whole("wg.delta_rule: qk_heads", opts.qk_heads or p.heads, 1, p.heads)
  if p.heads % p.qk_heads ~= 0 then
    native.fail(("wg.delta_rule: %d heads cannot share %d heads of Q and K: qk_heads must divide heads"):format(
      p.heads, p.qk_heads))
  end
  local function tile(mn, columns, major, order)
    return wg.tile { dtype = p.dtype, mn = mn, k = columns, major = major, order = order, swizzle = "128B" }
  end
  p.k = tile(p.chunk, p.dim, "K")               -- Q and K: a row for each token
  p.k_columns = tile(p.dim, p.chunk, "MN", "K") -- the same bytes, read along the tokens
  p.v = tile(p.chunk, p.columns, "K")
  p.t = tile(p.chunk, p.chunk, "K")             -- T and P
  p.panel = wg.panel { dtype = p.o, n = p.chunk, transposed = true }
  p.lines = { dtype = p.dtype, columns = 64, line_bytes = 128 }
  p.stages, p.v_stages, p.t_stages = 4, 2, 2
  p.gates = { "sum", "beta", "decay", "scaled", "rest", bytes = 5 * 4 * p.chunk }
  p.preparers, p.sharing = 2, p.dim // p.columns -- preparing warpgroups of a CTA; the CTAs of a cluster, with a head
  p.threads, p.registers = 128 * (2 + p.preparers), { copies = 40, recurrence = 232, preparation = 120 }
  return p
end

--- The plan of the kernel that sums segments up (linear_attention/segments.lua), for the plan of the main kernel.
function module.of_summary(p)
  return setmetatable({ summary = true, name = p.name .. "_summary" }, { __index = p })
end

return module
