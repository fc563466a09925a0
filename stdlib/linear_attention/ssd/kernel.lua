-- The kernel of wg.ssd, Mamba-2's state space duality (Dao and Gu 2024) in chunks of 64 tokens. With G the sum of A dt
-- within a chunk, in a chunk that begins with the state S:
--
--   P = tril(exp(G_i - G_j) dt_j c_i b_j),  Y = diag(exp G) C S + P x + D x,  y = Y silu(z)
--   S = exp(G_63) S + (diag(dt exp(G_63 - G)) B)^T x
--
-- A CTA has one or two units, each 64 columns of x, of y and of the state of a head: two heads that share B and C, or
-- the halves of a head of 128. A warpgroup for each unit passes over the chunks with the state in its registers
-- (across_chunks.lua); another makes P of the chunks ahead of them (within_chunk.lua), of C B^T that both heads have;
-- in the first one, a thread copies B, C and x, a warp for each head makes sums and exponentials of A dt (steps.lua),
-- and one for each unit stores y (linear_attention/results.lua).

local wg = require "wgrun"
local meeting = require "wgrun.builder.meeting"
local parameters = require "wgrun.builder.parameters"
local copies = require "wgrun.linear_attention.copies"
local results = require "wgrun.linear_attention.results"
local steps = require "wgrun.linear_attention.ssd.steps"
local within_chunk = require "wgrun.linear_attention.ssd.within_chunk"
local across_chunks = require "wgrun.linear_attention.ssd.across_chunks"
local sequences = require "wgrun.linear_attention.sequences"

local module = {}

-- Buffers in shared memory, and the rings over their stages. A summary has no C, P and y.
local function stages_of(k, p)
  local function shared(name, tile, count) return k:shared { tile = tile, count = count, name = name } end
  local buffers, rings = {
    k = k:shared { bytes = p.stages * p.k.bytes, align = 1024, name = "B" }, -- read along either extent
    v = shared("x", p.v, p.stages * p.units), z = p.z and shared("z", p.v, p.stages * p.units),
    gates = k:shared { bytes = p.stages * p.gated * p.gates.bytes, align = 16, name = "gates" },
  }, {
    -- B, C and x, and gates of a warp for each head; read by the preparing warpgroup and by those with a state
    keys = k:pipeline {
      stages = p.stages, producers = 1 + p.gated, name = "keys",
      arrivals = 4 * (p.units + (p.summary and 0 or 1)) * p.multicast,
    },
  }
  if not p.summary then
    buffers.q, buffers.p = shared("C", p.k, p.stages), shared("P", p.t, p.p_stages * p.gated)
    buffers.o = k:shared { bytes = p.units * p.panel.bytes, align = p.panel.align, name = "y" }
    rings.prepared = k:pipeline { stages = p.p_stages, producers = 4, arrivals = 4 * p.units, name = "prepared" }
    rings.outputs = k:pipeline { stages = p.units, producers = 4, name = "outputs" }
  end
  return buffers, rings
end

-- B, C, x and z, as they are copied.
local function operands(g)
  local k, p, at, buffers = g.k, g.p, g.at, g.buffers
  local function shared(map, buffer)
    return copies.operand(k, p.k, map, k:address(buffer), at.qk_head, { ctas = p.multicast })
  end
  local list = { shared(g.maps.K, buffers.k), not p.summary and shared(g.maps.Q, buffers.q) or nil }
  for unit = 0, p.units - 1 do
    local second = p.gated > 1 and unit or 0
    for _, pair in ipairs { { g.maps.V, buffers.v }, p.z and { g.maps.Z, buffers.z } or nil } do
      list[#list + 1] = copies.operand(k, p.v, pair[1], k:address(pair[2], unit * p.v.bytes), at.head + second, {
        column = k:mov((unit - second) * p.columns, { type = "u32" }), stride = p.units * p.v.bytes,
      })
    end
  end
  return list
end

-- What the roles of a unit, a register, have in place of `g`.
local function of_unit(g, unit)
  local k, p, at = g.k, g.p, g.at
  local place = { unit = unit, head = at.head, column = k:mov(0, { type = "u32" }) }
  if p.gated > 1 then place.head = at.head + unit else place.column = unit * p.columns end
  return setmetatable({ at = setmetatable(place, { __index = at }) }, { __index = g })
end

-- The roles of the first warpgroup: the last warps store y, those before them have gates; a thread of the first one
-- copies, which is one of the latter where a CTA has two heads.
local function serve(g)
  local k, p = g.k, g.p
  local warp = k:shfl_sync_idx_b32(k:special "tid.x" >> 5, 0, 31)
  if not p.summary then k:setmaxnreg_dec(p.registers.copies) end
  local outputs, leader = 4 - p.units, k:special "tid.x":eq(0)
  local first = outputs - p.gated
  k:if_(warp:ge(first) & warp:lt(outputs), function()
    local copy = first == 0 and copies.copier(g, g.rings.keys, operands(g), true)
    steps.emit(g, warp - first, copy and function(cursor, chunk)
      k:if_(leader, function() copy(cursor, chunk) end)
    end)
  end)
  if first > 0 then k:if_(leader, function() copies.emit(g, g.rings.keys, operands(g), true) end) end
  if not p.summary then k:if_(warp:ge(outputs), function() results.emit(of_unit(g, warp - outputs)) end) end
end

--- The kernel of a plan (of plan.make), with these parameters; its CTAs are one or two heads, and sequence or segment.
--- While it is emitted it is a table `g`, as that of wg.delta_rule (linear_attention/kernel.lua).
function module.make(p, list)
  local grid = { 1, p.heads // p.gated, "any" }
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { 1, p.multicast }, grid = grid }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers, g.rings = stages_of(k, p)
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "K", "Q", "V", "O", "Z" } do
        if g.maps[name] then k:prefetch_tensormap(g.maps[name]) end
      end
      for _, name in ipairs { "keys", "prepared", "outputs" } do
        if g.rings[name] then g.rings[name]:init() end
      end
    end)
    meeting.all(k, p.multicast)
    g.at = sequences.complete(g, { head = k:special "ctaid.y" * p.gated })
    local role = k:shfl_sync_idx_b32(thread >> 7, 0, 31)
    k:if_(role:eq(0), function() serve(g) end, function()
      if p.summary then
        across_chunks.emit(of_unit(g, role - 1))
        return
      end
      k:if_(role:eq(p.units + 1), function()
        k:setmaxnreg_dec(p.registers.preparation)
        within_chunk.emit(g)
      end, function()
        k:setmaxnreg_inc(p.registers.recurrence)
        across_chunks.emit(of_unit(g, role - 1))
      end)
    end)
    if p.multicast > 1 then meeting.all(k, p.multicast) end -- the other CTA may still write to this one
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
