-- The plan of wg.delta_rule_backward: the one that its kernels share, and what differs in the two passes over the
-- chunks.

local arguments = require "wgrun.arguments"
local plan = require "wgrun.linear_attention.plan"

local module = {}

--- The plan for the options of wg.delta_rule_backward.
function module.make(opts)
  local what = "wg.delta_rule_backward"
  local p = plan.make(what, arguments.options(what, opts))
  p.overlaps = false -- the pass backward begins with the chunk that is prepared last
  p.least_beta = 2 ^ -40 -- far below what bf16 sees beside 1, and its square still far above the least f32
  return p
end

--- The plan of the pass forward: U, and the state before each chunk.
function module.of_states(p)
  return setmetatable({
    name = p.name .. "_states", leads = true, with_p = false, with_o = false, final_state = false, image = "states",
    names = { O = "U" },
  }, { __index = p })
end

--- The plan of the pass backward: dV, and the gradient of the state after each chunk.
function module.of_reverse(p)
  return setmetatable({
    name = p.name .. "_reverse", reversed = true, follows = true, with_o = false, image = "d_states",
    initial_state = p.final_state, final_state = p.initial_state,
    names = { V = "dO", O = "dV", initial_state = "d_final_state", final_state = "d_initial_state" },
    gates = { "sum", "beta", "decay", "scaled", "rest", "ended", bytes = 6 * 4 * p.chunk },
  }, { __index = p })
end

return module
