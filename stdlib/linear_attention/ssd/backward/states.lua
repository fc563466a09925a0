-- The first kernel of wg.ssd_backward, which passes over the chunks of a sequence twice at the same time, in CTAs of
-- their own: from the first one on with the state S that a chunk begins with, and from the last one back with the
-- gradient R of the state that it ends with. With G the sum of A dt within a chunk:
--
--   S = exp(G_63) S + (diag(dt exp(G_63 - G)) x)^T B,   R = exp(G_63) R + (diag(exp G) dY)^T C
--
-- Both are stored before each chunk, in the type of x, as the bytes of a tile in shared memory.
--
-- Of a sequence in segments, each way begins in all of them at the same time: a first kernel, a summary, sums each
-- segment up, and the CTA of a segment carries the state over those before it on its way (ssd/carried_state.lua).

local wg = require "wgrun"
local parameters = require "wgrun.builder.parameters"
local copies = require "wgrun.linear_attention.copies"
local gates = require "wgrun.linear_attention.gates"
local operands = require "wgrun.linear_attention.operands"
local records = require "wgrun.linear_attention.records"
local sequences = require "wgrun.linear_attention.sequences"
local across_chunks = require "wgrun.linear_attention.ssd.across_chunks"
local carried_state = require "wgrun.linear_attention.ssd.carried_state"
local steps = require "wgrun.linear_attention.ssd.steps"
local state = require "wgrun.linear_attention.state"
local division = require "wgrun.builder.division"
local panels = require "wgrun.tile.panel"

local module = {}

-- Chunk `number` of the CTA's way.
local function chunk_of(g, number) return g.k:selp((g.at.chunks - 1) - number, number, g.at.backward) end

-- Copies the operands of a chunk, by one thread.
local function copier(g)
  local k, p, at, buffers = g.k, g.p, g.at, g.buffers
  local function of(values, rows)
    return copies.copier(g, g.rings.keys, {
      copies.operand(k, p.k, g.maps[rows], k:address(buffers.k), at.qk_head),
      copies.operand(k, p.v, g.maps[values], k:address(buffers.v), at.head, { column = at.column }),
    }, true)
  end
  local forward, backward = of("V", "K"), of("dY", "Q")
  return function(cursor, chunk)
    k:if_(at.backward, function() backward(cursor, chunk) end, function() forward(cursor, chunk) end)
  end
end

-- The warp that copies, and makes the weights of the tokens: rest, as two words of 16-bit numbers for each two tokens,
-- whose sums they are; scaled, exp G.
local function serve(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local lane, cursor, copy = k:special "tid.x" & 31, ring:cursor(), copier(g)
  local load = steps.loader(g, lane)
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local bias = p.dt_bias and k:ld_global_f32(k:element(g.sizes.dt_bias, at.head))
  local rate = k:ld_global_f32(k:element(g.sizes.A, at.head)) * steps.log2_e
  local function load_chunk(number, to) load(chunk_of(g, number), at.head, to) end
  steps.each(k, p, at.chunks, load_chunk, function(number, given, next)
    local chunk = chunk_of(g, number)
    ring:acquire(cursor)
    k:if_(lane:eq(0), function() copy(cursor, chunk) end)
    local dt, inside, token = {}, {}, (chunk << 6) + (lane << 1)
    for i = 0, 1 do
      inside[i] = (token + i):lt(at.tokens)
      dt[i] = steps.step(k, p, given[i], bias, inside[i])
    end
    next()
    local sums, total = steps.sums(k, dt, rate, lane)
    local to, scaled, rest = stage_at(cursor.stage) + (lane << 3), {}, {}
    for i = 0, 1 do
      scaled[i] = k:ex2_approx_ftz(sums[i])
      rest[i] = k:selp(k:selp(scaled[i], 0.0, inside[i]), dt[i] * k:ex2_approx_ftz(total - sums[i]), at.backward)
    end
    local high, low = steps.in_two(k, p, rest[0], rest[1])
    k:st_shared_v2_b32(to, { high, low }, { offset = offsets.rest })
    k:st_shared_v2_b32(to, { scaled[0], scaled[1] }, { offset = offsets.scaled })
    if p.summary then k:st_shared_v2_b32(to, { sums[0], sums[1] }, { offset = offsets.sum }) end
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(ring:full_barrier(cursor), { guard = lane:eq(0) })
    ring:advance(cursor)
  end)
end

-- The thread that stores states.
local function store(g)
  local k, p, ring, at = g.k, g.p, g.rings.outputs, g.at
  local cursor, from, units = ring:cursor(), k:address(g.buffers.o), p.heads * p.head_units
  local first = k:selp(g.sizes.records, 0, at.backward) + at.record
  k:loop(at.chunks, function(number)
    ring:wait(cursor)
    k:fence_proxy_async { space = "shared::cta" }
    local matrix = (first + chunk_of(g, number)) * units + at.number
    k:cp_async_bulk_store(k:mad_wide_u32(matrix, p.state_bytes, g.sizes.states), from, p.state_bytes)
    k:cp_async_bulk_commit_group()
    k:cp_async_bulk_wait_group(0, { read = true })
    k:mbarrier_arrive(ring:empty_barrier(cursor))
    k:xor(cursor.phase, cursor.phase, 1)
  end)
end

-- The number of the summary of a segment among all: those of one direction, and then those of the other one.
local function summary_of(g, segment)
  local k, p, at = g.k, g.p, g.at
  local slots = g.sizes.sequences * p.segments
  return (k:selp(slots, 0, at.backward) + at.batch * p.segments + segment) * (p.heads * p.head_units) + at.number
end

-- The state before the CTA's first chunk.
local function start(g, s)
  local k, p, at = g.k, g.p, g.at
  local function from(tensor)
    if tensor then return state.load_matrix(g, s, tensor, state.number(g, at.batch), p.state_layout) end
    for r = 0, #s - 1 do k:mov(s[r], 0.0) end
  end
  if p.summary then return from(nil) end
  k:if_(at.backward, function() from(g.sizes.dfinal_state) end, function() from(g.sizes.initial_state) end)
  if p.segments == 1 then return end
  local own, last = k:regs("f32", #s), p.segments - 1
  k:loop(k:selp(last - at.segment, at.segment, at.backward), function(number)
    carried_state.carry(g, s, own, summary_of(g, k:selp(last - number, number, at.backward)))
  end)
end

-- The warpgroup with the state.
local function pass(g)
  local k, p, rings, at = g.k, g.p, g.rings, g.at
  local lane, warp = k:special "tid.x" & 31, k:special "tid.x" >> 5 & 3
  local offsets, stage_at = gates.places(k, p, g.buffers.gates)
  local load = across_chunks.loader(g, stage_at, offsets)
  local multiply = operands.products(k, p).columns(g.buffers.k, p.k_columns)
  local keys, output = rings.keys:cursor(), not p.summary and rings.outputs:cursor()
  local last, total = 4 * (p.chunk - 1), p.summary and k:mov(0.0, { type = "f32" })
  local s, x, update = k:regs("f32", p.dim // 2), k:regs("b32", p.chunk // 4), k:regs("b32", p.chunk // 4)
  local pieces = not p.summary and panels.pieces(p.matrix, k:address(g.buffers.o), lane, warp)
  local function leave()
    rings.outputs:acquire(output)
    for first = 0, p.matrix.count - 1 do
      for _, piece in ipairs(pieces(first, first * p.matrix.bytes)) do panels.write_piece(k, p.matrix, piece, s) end
    end
    k:bar_warp_sync(0xFFFFFFFF)
    k:mbarrier_arrive(rings.outputs:full_barrier(output), { guard = lane:eq(0) })
    k:xor(output.phase, output.phase, 1)
  end
  start(g, s)
  k:loop(at.chunks, function()
    if not p.summary then leave() end
    rings.keys:wait(keys)
    load(keys.stage, x, update)
    local whole = k:ld_shared_f32(stage_at(keys.stage), { offset = offsets.scaled + last })
    if total then k:add(total, total, k:ld_shared_f32(stage_at(keys.stage), { offset = offsets.sum + last })) end
    for r = 0, #s - 1 do k:mul(s[r], s[r], whole) end
    multiply(s, update, keys.stage, 1)
    k:wgmma_wait_group(0)
    k:bar_warp_sync(0xFFFFFFFF) -- all lanes have read x and the weights
    rings.keys:release(keys, { lane = lane })
    rings.keys:advance(keys)
  end)
  if p.summary then
    carried_state.leave(g, s, summary_of(g, at.segment), total)
  elseif p.initial_state then
    k:if_(p.segments > 1 and at.backward & at.segment:eq(0) or at.backward, function()
      state.store_matrix(g, s, g.sizes.dinitial_state, state.number(g, at.batch), p.state_layout)
    end)
  end
end

--- The kernel; its CTAs are 64 columns of a head, direction (0: from the first chunk on), and sequence or segment: of a
--- summary all but the last one on their way.
function module.make(p, list)
  return wg.kernel(p.name, { threads = 256, grid = { p.heads * p.head_units, 2, "any" } }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers = {
      k = k:shared { bytes = p.stages * p.k.bytes, align = 1024, name = "B" },
      v = k:shared { tile = p.v, count = p.stages, name = "x" },
      gates = k:shared { bytes = p.stages * p.gates.bytes, align = 16, name = "gates" },
      o = not p.summary and k:shared { bytes = p.state_bytes, align = p.matrix.align, name = "state" },
    }
    g.rings = {
      keys = k:pipeline { stages = p.stages, producers = 2, arrivals = 4, name = "keys" },
      outputs = not p.summary and k:pipeline { stages = 1, producers = 4, name = "outputs" },
    }
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "V", "K", "Q", "dY" } do k:prefetch_tensormap(g.maps[name]) end
      g.rings.keys:init()
      if g.rings.outputs then g.rings.outputs:init() end
    end)
    k:bar_sync(0)
    local number = k:special "ctaid.x"
    local head = division.divided(k, number, p.head_units)
    g.at = sequences.complete(g, {
      head = head, number = number, column = (number - head * p.head_units) * p.columns, unit = 0,
      backward = k:special "ctaid.y":eq(1),
    }, function(at)
      if p.summary then at.segment = at.segment + k:selp(k:mov(1, { type = "u32" }), 0, at.backward) end
      at.record = p.packed and records.first_packed(at.start, at.batch) or at.batch * at.chunks
    end)
    local warp = k:shfl_sync_idx_b32(thread >> 5, 0, 31)
    k:if_(warp:eq(0), function() serve(g) end)
    if not p.summary then k:if_(thread:eq(32), function() store(g) end) end
    k:if_(warp:ge(4), function() pass(g) end)
  end)
end

return module
