-- The state of a unit before its first chunk and after its last one. Of a sequence in segments, a first kernel sums
-- each segment but the last up: what its tokens make of the state 0, and their decay. The main kernel goes over those
-- of the segments before its own.

local state = require "wgrun.linear_attention.state"

local module = {}

-- The address of a thread's accumulators of a summary, four of which lie together, and then those of the next thread.
local function place_of(g, matrix)
  local k, p = g.k, g.p
  local summary = k:element(g.sizes.summaries, k:mul_wide_u32(matrix, p.columns * p.dim))
  return k:mad_wide_u32(k:special "tid.x" & 127, 16, summary)
end

local function each_four(s, each)
  for r = 0, #s - 1, 4 do each(s:slice(r, 4), 512 * r) end
end

--- Carries the state `s` over a segment: summary `matrix`, with the registers `own` for it.
function module.carry(g, s, own, matrix)
  local k, from = g.k, place_of(g, matrix)
  each_four(own, function(four, offset) k:ld_global_v4_f32(four, from, { offset = offset }) end)
  local decay = k:ld_global_f32(k:element(g.sizes.decays, matrix))
  for r = 0, #s - 1 do k:fma(s[r], s[r], decay, own[r]) end
end

--- Stores summary `matrix`: the state after a segment that began with 0, and the segment's decay, whose logarithm to
--- the base of 2 is `total`.
function module.leave(g, s, matrix, total)
  local k, to = g.k, place_of(g, matrix)
  each_four(s, function(four, offset)
    k:st_global_v4_b32(to, { four[0], four[1], four[2], four[3] }, { offset = offset })
  end)
  local first = (k:special "tid.x" & 127):eq(0)
  k:st_global_b32(k:element(g.sizes.decays, matrix), k:ex2_approx_ftz(total), { guard = first })
end

-- The number of the unit's summary of segment `slot` among all.
local function number_of(g, slot)
  local halves = g.p.value_dim // g.p.columns
  local number = state.number(g, slot)
  return halves == 1 and number or number * halves + g.at.unit
end

--- Loads the state before the first chunk.
function module.load(g, s)
  local k, p, at = g.k, g.p, g.at
  if p.summary then
    for r = 0, #s - 1 do k:mov(s[r], 0.0) end
    return
  end
  state.load_initial(g, s)
  if p.segments == 1 then return end
  local own = k:regs("f32", #s)
  k:loop(at.segment, function(segment)
    module.carry(g, s, own, number_of(g, at.batch * p.segments + segment))
  end)
end

--- Stores the state after the last chunk, where it is wanted. total: of a summary, the logarithm of its decay to the
--- base of 2.
function module.store(g, s, total)
  if g.p.summary then return module.leave(g, s, number_of(g, g.at.slot), total) end
  state.store_final(g, s)
end

return module
