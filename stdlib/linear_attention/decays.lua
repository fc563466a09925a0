-- What decays do to the products of a chunk, for the warpgroup that has the state: with one decay for each head, from
-- arrays of gates (linear_attention/gates.lua); with one for each channel most of it has been prepared. Both have
--
--   first(stage)    returns x(r, v, u), the element X of register r, from V, nil for 0, and the product of the state
--                   and K; and whole(r), the factor of the state
--   second(stage)   returns the factors of O and of U that updates the state, as functions of a register; or nil
--
-- and for gradients
--
--   beta(stage)          returns the beta of a register's token
--   whole(stage)         returns the factor of the state, of a register
--   factor(name, stage)  returns the array of gates of that name, of a register; nil where the operands have it

local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"

local module = {}

local function by_head(g)
  local k, p = g.k, g.p
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local function of_tokens(name, stage) return operands.columns(k, stage_at(stage) + offsets[name], p.chunk) end
  local out = {}
  out.factor = of_tokens
  function out.whole(stage)
    local whole = k:neg(k:ld_shared_f32(stage_at(stage), { offset = offsets.decay + 4 * (p.chunk - 1) }))
    return function() return whole end
  end
  function out.first(stage)
    local decay = of_tokens("decay", stage)
    return function(r, v, u) return v and k:fma(decay(r), u, v) or decay(r) * u end, out.whole(stage)
  end
  function out.beta(stage) return of_tokens("beta", stage) end
  function out.second(stage) return p.with_o and of_tokens("scaled", stage), of_tokens("rest", stage) end
  return out
end

local function by_channel(g)
  local k, p = g.k, g.p
  local out = {}
  function out.factor() end
  function out.whole(stage) return operands.columns(k, k:address(g.buffers.decay, stage * p.decay_bytes), p.dim) end
  function out.first(stage)
    return function(_, v, u) return v and v - u or k:neg(u) end, out.whole(stage)
  end
  function out.beta(stage) return operands.columns(k, k:address(g.buffers.beta, stage * (4 * p.chunk)), p.chunk) end
  function out.second() end
  return out
end

function module.of(g) return (g.p.by_channel and by_channel or by_head)(g) end

return module
