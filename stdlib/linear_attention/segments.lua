-- Sequences in segments, for few heads and many tokens: a segment is a multiple of 64 tokens, and its CTAs do not wait
-- for those before it. What a segment makes of the state before it is M S + B. The main kernel, without O, sums each
-- segment up: it finds B from the state 0, and M from the identity and V = 0. The main kernel then begins with what is
-- here: it goes through the segments before its own, S = M S + B. It multiplies by tf32, with sums in f32: a CTA has 64
-- columns of the state of a head, transposed in accumulators, which are the operand A of the next product; for that the
-- columns of M have K in the order 0, 2, 4, 6, 1, 3, 5, 7 (linear_attention/state.lua). The first segment's sum begins
-- with the initial state, so that B is the state behind it; in the place of its M is the initial state, which a CTA
-- may then overwrite by the final one while others have not begun.

local wg = require "wgrun"
local state = require "wgrun.linear_attention.state"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

-- Half of the columns of M. They lie in the first stages of K and of Q, which are filled later.
local tile = wg.tile { dtype = "tf32", mn = 128, k = 64, major = "K", swizzle = "128B" }

--- The parameter that has the matrices M.
module.parameter = {
  "M", map = { dtype = "f32", box = { 32, 128 }, swizzle = "128B", constant = true },
  value = function(l) return l.summaries end,
}

--- The ring of the halves.
function module.ring(k) return k:pipeline { stages = 2, arrivals = 4, name = "factors" } end

local function place(g, half) return half == 0 and g.buffers.k or g.buffers.q end

-- The number of B among the matrices of a segment, a register; M follows.
local function number(g, segment)
  return 2 * state.number(g, g.at.batch * g.p.segments + segment)
end

--- Copies M of the segments before the CTA's own, by one thread, and waits until all have been multiplied.
function module.copy(g)
  local k, ring = g.k, g.rings.factors
  local cursor = ring:cursor()
  local function each(body)
    for half = 0, 1 do
      ring:acquire(cursor)
      body(half)
      ring:advance(cursor)
    end
  end
  k:griddepcontrol_wait()
  k:loop({ from = 1, to = g.at.segment }, function(segment)
    local row = (number(g, segment) + 1) << 7
    each(function(half)
      k:load_tile {
        tile = tile, map = g.maps.M, to = k:address(place(g, half)), mn = row, k = 64 * half,
        barrier = ring:expect(cursor, tile.bytes),
      }
    end)
  end)
  each(function() end)
end

--- The state before the CTA's segment.
function module.load(g, s)
  local k, p, ring = g.k, g.p, g.rings.factors
  local lane, cursor, done = k:special "tid.x" & 31, ring:cursor(), ring:cursor()
  local words, sums = k:regs("b32", p.dim // 2), k:regs("f32", p.dim // 2)
  local form = { n = p.dim, k = 8, d = "f32", a = "tf32", b = "tf32" }
  local of_b = {}
  for half = 0, 1 do
    of_b[half] = descriptors.view(k, place(g, half), tile)()
  end
  for r = 0, #sums - 1 do k:mov(sums[r], 0.0) end
  local function load_sums(segment) -- where they are used
    state.load_fragments(g, sums, g.sizes.summaries, number(g, segment), segment:lt(g.at.segment))
  end
  k:griddepcontrol_wait()
  local first = number(g, k:mov(0, { type = "u32" })) + k:selp(k:mov(1, { type = "u32" }), 0, g.at.segment:eq(0))
  state.load_fragments(g, s, g.sizes.summaries, first)
  load_sums(k:mov(1, { type = "u32" }))
  k:loop({ from = 1, to = g.at.segment }, function(segment)
    for r = 0, #s - 1, 4 do -- as fragments of A, each of 8 columns
      for to, from in ipairs { 0, 2, 1, 3 } do k:mov(words[r + to - 1], elements.nearest_tf32(k, s[r + from])) end
    end
    for r = 0, #s - 1 do k:mov(s[r], sums[r]) end
    for half = 0, 1 do
      ring:wait(cursor)
      k:wgmma_fence()
      for step = 0, 7 do k:wgmma_mma_async(s, words:slice(4 * (8 * half + step), 4), of_b[half](step), form) end
      k:wgmma_commit_group()
      ring:advance(cursor)
    end
    load_sums(segment + 1)
    k:wgmma_wait_group(0)
    for _ = 0, 1 do
      ring:release(done, { lane = lane })
      ring:advance(done)
    end
  end)
end

return module
