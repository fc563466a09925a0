-- What decays do to the products of a chunk, for the warpgroup that has the state: with one decay for each head, from
-- arrays of gates (linear_attention/gates.lua); with one for each channel most of it has been prepared. Both have
--
--   first(stage)    returns x(r, v, u), the element X of register r, from V and the product of the state and K; and
--                   whole(r), the factor of the state
--   second(stage)   returns the factors of O and of U that updates the state, as functions of a register; or nil

local gates = require "wgrun.linear_attention.gates"

local module = {}

-- Values of an array in shared memory for the thread's columns of accumulators.
local function columns(k, from, count)
  local mine, out = from + ((k:special "tid.x" & 3) << 3), k:regs("f32", count // 4)
  for eight = 0, count // 8 - 1 do k:ld_shared_v2_f32(out:slice(2 * eight, 2), mine, { offset = 32 * eight }) end
  return function(r) return out[r // 4 * 2 + r % 2] end
end

local function by_head(g)
  local k, p = g.k, g.p
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local function of_tokens(name, stage) return columns(k, stage_at(stage) + offsets[name], p.chunk) end
  local out = {}
  function out.first(stage)
    local decay = of_tokens("decay", stage)
    local whole = k:neg(k:ld_shared_f32(stage_at(stage), { offset = offsets.decay + 4 * (p.chunk - 1) }))
    return function(r, v, u) return k:fma(decay(r), u, v) end, function() return whole end
  end
  function out.second(stage) return not p.summary and of_tokens("scaled", stage), of_tokens("rest", stage) end
  return out
end

local function by_channel(g)
  local k, p = g.k, g.p
  local out = {}
  function out.first(stage)
    return function(_, v, u) return v - u end, columns(k, k:address(g.buffers.decay, stage * p.decay_bytes), p.dim)
  end
  function out.second() end
  return out
end

function module.of(g) return (g.p.by_channel and by_channel or by_head)(g) end

return module
