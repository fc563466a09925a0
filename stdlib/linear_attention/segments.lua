-- Sequences in segments, for few heads and many tokens: a segment is a multiple of 64 tokens, and its CTAs do not wait
-- for those before it. What a segment makes of the state before it is M S + B. The main kernel, without O, sums each
-- segment but the last up: it finds B from the state 0, and M from the identity and V = 0. The kernel here then goes
-- from segment to segment, S = M S + B, and gives the states before each of them to the main kernel. It multiplies by
-- tf32, with sums in f32: a CTA has 64 columns of the state of a head, transposed in accumulators, which are the
-- operand A of the next product; for that the columns of M have K in the order 0, 2, 4, 6, 1, 3, 5, 7
-- (linear_attention/state.lua).

local wg = require "wgrun"
local parameters = require "wgrun.builder.parameters"
local dependent_launch = require "wgrun.linear_attention.dependent_launch"
local state = require "wgrun.linear_attention.state"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

local tile = wg.tile { dtype = "tf32", mn = 128, k = 128, major = "K", swizzle = "128B" }
local stages = 3

--- The kernel's parameters. A launch has each under its name.
function module.parameters(p)
  return parameters.rows {
    { "M", map = { dtype = "f32", box = { 32, 128 }, swizzle = "128B", constant = true },
      value = function(l) return l.summaries end },
    { "summaries", "const f32*" }, { "states", "f32*" },
    p.initial_state and { "initial_state", "const f32*" } or false,
  }
end

--- The kernel of a plan, with these parameters. Its CTAs are half of V, head, and sequence.
function module.make(p, list)
  local grid = { p.dim // p.columns, p.heads, "any" }
  return wg.kernel(p.name .. "_scan", { threads = 128, grid = grid }, function(k)
    dependent_launch.begin(k) -- the main kernel then comes behind the summaries, too, which leave T for it
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.at = {
      column = k:special "ctaid.x" << 6, head = k:special "ctaid.y", batch = k:special "ctaid.z",
    }
    local matrices = k:shared { tile = tile, count = stages, name = "M" }
    local ring = k:pipeline { stages = stages, name = "matrices" }
    local leader, last = k:special "tid.x":eq(0), p.segments - 1
    k:if_(leader, function() ring:init() end)
    k:bar_sync(0)
    local cursor, loaded = ring:cursor(), ring:cursor()
    local function slot(segment) return g.at.batch * p.segments + segment end
    local function load(segment)
      local row = (2 * state.number(g, slot(segment)) + 1) << 7
      k:load_tile {
        tile = tile, map = g.maps.M, to = k:address(matrices, loaded.stage * tile.bytes), mn = row, k = 0,
        barrier = ring:expect(loaded, tile.bytes),
      }
    end
    for segment = 0, math.min(stages - 1, last) - 1 do
      k:if_(leader, function() load(k:mov(segment, { type = "u32" })) end)
      ring:advance(loaded)
    end

    local s, words, sums = k:regs("f32", p.dim // 2), k:regs("b32", p.dim // 2), k:regs("f32", p.dim // 2)
    local at = descriptors.view(k, matrices, tile)
    local function load_sums(segment)
      state.load_fragments(g, sums, g.sizes.summaries, 2 * state.number(g, slot(segment)))
    end
    load_sums(k:mov(0, { type = "u32" }))
    state.load_initial(g, s)
    k:loop(last, function(segment)
      -- The matrix before has been multiplied by all warps: its stage is free.
      k:bar_sync(0)
      local ahead = segment + (stages - 1)
      k:if_(leader & ahead:lt(last), function() load(ahead) end)
      ring:advance(loaded)
      state.store_fragments(g, s, g.sizes.states, state.number(g, slot(segment)))
      for r = 0, #s - 1, 4 do -- as fragments of A, each of 8 columns
        for to, from in ipairs { 0, 2, 1, 3 } do k:mov(words[r + to - 1], elements.nearest_tf32(k, s[r + from])) end
      end
      for r = 0, #s - 1 do k:mov(s[r], sums[r]) end
      ring:wait(cursor)
      local of_b = at(cursor.stage)
      k:wgmma_fence()
      local form = { n = p.dim, k = 8, d = "f32", a = "tf32", b = "tf32" }
      for step = 0, p.dim // 8 - 1 do
        k:wgmma_mma_async(s, words:slice(4 * step, 4), of_b(step), form)
      end
      k:wgmma_commit_group()
      load_sums(segment + 1) -- in the last turn those of a segment that has none, which nobody uses
      k:wgmma_wait_group(0)
      ring:advance(cursor)
    end)
    state.store_fragments(g, s, g.sizes.states, state.number(g, slot(last)))
  end)
end

return module
