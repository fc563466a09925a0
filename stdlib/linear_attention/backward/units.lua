-- The units of work of wg.delta_rule_backward's last kernel: a chunk of a head of Q and K, and the heads of V that
-- share it.

local division = require "wgrun.builder.division"
local records = require "wgrun.linear_attention.records"

local module = {}

-- Where a unit is: qk_head, chunk; record, the number of the chunk among those of all sequences; batch, start and
-- tokens of its sequence, as copies have them (linear_attention/sequences.lua); first, the sequence's first row of all.
local function place_of(g, unit)
  local k, p, sizes = g.k, g.p, g.sizes
  local record = division.divided(k, unit, p.qk_heads)
  local at = { record = record, qk_head = unit - record * p.qk_heads }
  if p.packed then
    at.chunk, at.start, at.tokens = records.sequence(k, sizes, record)
    at.first = at.start
  else
    local chunks = (sizes.tokens + 63) >> 6
    at.batch = k:div(record, chunks)
    at.chunk, at.start, at.tokens = record - at.batch * chunks, k:mov(0, { type = "u32" }), sizes.tokens
    at.first = at.batch * sizes.tokens
  end
  return at
end

--- Calls body(here) for each unit of the CTA, by whole warps: `here` is `g` with the place `at` of the unit, and its
--- number, `unit`.
function module.each(g, body)
  local k, p = g.k, g.p
  local own = { from = k:special "ctaid.x", to = g.sizes.units, step = k:special "nctaid.x" }
  k:loop(own, function(unit)
    local here = setmetatable({ at = place_of(g, unit), unit = unit }, { __index = g })
    if not p.packed then return body(here) end
    k:if_((here.at.chunk << 6):lt(here.at.tokens), function() body(here) end) -- of packed ones some have no tokens
  end)
end

--- The place of the CTA's next unit, and whether there is one. By whole warps.
function module.next_place(here)
  local unit = here.unit + here.k:special "nctaid.x"
  return place_of(here, unit), unit:lt(here.sizes.units)
end

--- Calls body(head, number) for each head of V that shares the unit's head of Q and K; number: among them, nil where
--- there is one.
function module.heads(here, body)
  local k, p = here.k, here.p
  local group = p.heads // p.qk_heads
  if group == 1 then return body(here.at.qk_head) end
  k:loop(group, function(i) body(here.at.qk_head * group + i, i) end)
end

return module
