-- The kernel of wg.delta_rule, the gated delta rule (Yang et al. 2024) in chunks of 64 tokens. With G the sum of g
-- within a chunk, in a chunk that begins with the state S:
--
--   N = -tril(beta_i exp(G_i - G_j) k_i k_j, -1),  T = (I - N)^-1 diag(beta),  P = tril(scale exp(G_i - G_j) q_i k_j)
--   X = V - diag(exp G) K S,  U = T X,  O = scale diag(exp G) Q S + P U,  S = exp(G_63) S + (diag(exp(G_63 - G)) K)^T U
--
-- Only X, U, O and S depend on the state. A CTA has 64 columns of V, of O and of the state of a head. One warpgroup
-- passes over the chunks with the state in its registers (linear_attention/recurrence.lua); two others make T and P of
-- chunks ahead of it (linear_attention/preparation.lua), in turns with those of the CTA that has the head's other
-- columns; in the fourth, threads copy Q, K and V, a warp makes sums and exponentials of g
-- (linear_attention/gates.lua), and another stores O (linear_attention/results.lua). With decays for each channel
-- another kernel prepares (linear_attention/channel_preparation.lua), and a thread copies what it has left.

local wg = require "wgrun"
local meeting = require "wgrun.builder.meeting"
local parameters = require "wgrun.builder.parameters"
local copies = require "wgrun.linear_attention.copies"
local gates = require "wgrun.linear_attention.gates"
local results = require "wgrun.linear_attention.results"
local preparation = require "wgrun.linear_attention.preparation"
local dependent_launch = require "wgrun.linear_attention.dependent_launch"
local reverse = require "wgrun.linear_attention.backward.reverse"
local records = require "wgrun.linear_attention.records"
local recurrence = require "wgrun.linear_attention.recurrence"
local segments = require "wgrun.linear_attention.segments"
local sequences = require "wgrun.linear_attention.sequences"

local module = {}

-- Buffers in shared memory, and the rings over their stages. A summary has no Q, P and O.
local function stages_of(k, p)
  local function shared(name, tile, count) return k:shared { tile = tile, count = count, name = name } end
  local function either(name, tile, count) -- read along either extent
    return k:shared { bytes = count * tile.bytes, align = 1024, name = name }
  end
  local triangular = wg.triangular()
  local buffers, rings = {
    k = either("K", p.k, p.stages), v = shared("V", p.v, p.v_stages),
    t = either("T", p.t, p.makes_t and p.t_stages or p.stages),
  }, {}
  if p.with_p then
    buffers.q, buffers.p = either("Q", p.k, p.stages), either("P", p.t, p.by_channel and p.stages or p.t_stages)
  end
  if not p.summary then
    buffers.o = k:shared { bytes = p.panel.bytes, align = p.panel.align, name = "O" }
    rings.outputs = k:pipeline { stages = 1, producers = 4, name = "outputs" }
  end
  if p.passes then rings.factors = segments.ring(k) end
  rings.values = k:pipeline { stages = p.v_stages, arrivals = 4, name = "values" }
  if p.by_channel then
    buffers.r = either("R", p.k, p.stages)
    buffers.decay = k:shared { bytes = p.stages * p.decay_bytes, align = 16, name = "decay" }
    buffers.beta = p.least_beta and k:shared { bytes = p.stages * 4 * p.chunk, align = 16, name = "beta" }
    rings.keys = k:pipeline { stages = p.stages, arrivals = 4 * p.kinds, name = "records" }
  else
    buffers.n = p.makes_t and k:shared { bytes = p.preparers * triangular.bytes, align = 16, name = "N" }
    buffers.gates = k:shared { bytes = p.stages * p.gates.bytes, align = 16, name = "gates" }
    -- Q, K and the gates, from a thread and a warp; read by a preparing warpgroup and by the recurrences
    rings.keys = k:pipeline { stages = p.stages, producers = 2, arrivals = 4 * (1 + p.kinds), name = "keys" }
    rings.prepared = k:pipeline { stages = p.t_stages, arrivals = 4 * p.sharing * p.kinds, name = "prepared" }
    if p.reversed then -- which needs P before T: from each warp that prepares
      rings.of_p = k:pipeline { stages = p.t_stages, producers = 4, arrivals = 4 * p.sharing, name = "P" }
    end
  end
  return buffers, rings
end

-- Copies what was prepared in a kernel before this one.
local function copy_records(g)
  local k, p, ring, at = g.k, g.p, g.rings.keys, g.at
  local cursor, total, parts, _, offsets = ring:cursor(), 0, {}, records.bytes(p)
  for _, part in ipairs(records.parts(p)) do
    if p.with_p or not part.with_p then
      parts[#parts + 1] = { to = k:address(g.buffers[part[1]]), bytes = part[2], offset = offsets[part[1]] }
      total = total + part[2]
    end
  end
  k:loop(at.chunks, function(turn)
    local number = (at.record + sequences.chunk(g, turn)) * p.heads + at.head
    if p.overlaps then records.wait(k, g.sizes.ready, number) end
    ring:acquire(cursor)
    k:fence_proxy_async { space = "shared::cta" } -- decays have been read, by threads that need not wait for the fence
    local barrier = ring:expect(cursor, total)
    local from = records.place(k, p, g.sizes.records, number)
    for _, part in ipairs(parts) do
      k:cp_async_bulk(part.to + cursor.stage * part.bytes, from + part.offset, part.bytes, barrier)
    end
    ring:advance(cursor)
  end)
  -- What comes behind this kernel then comes behind the one before it, too.
  if p.overlaps or p.follows then k:griddepcontrol_wait() end
end

-- Copies K and Q; V has a thread of its own, since its stages are given back at other times.
local function copy_keys(g)
  local k, p, at, buffers = g.k, g.p, g.at, g.buffers
  local function operand(map, buffer) return copies.operand(k, p.k, map, k:address(buffer), at.qk_head) end
  copies.emit(g, g.rings.keys, {
    operand(g.maps.K, buffers.k), p.with_p and operand(g.maps.Q, buffers.q) or nil,
  }, false, not p.makes_t and { bytes = p.t.bytes, copy = function(cursor, chunk, barrier)
    local from = records.place(k, p, g.sizes.records, (at.record + chunk) * p.heads + at.head)
    k:cp_async_bulk(k:address(buffers.t) + cursor.stage * p.t.bytes, from, p.t.bytes, barrier)
  end })
  if p.follows then k:griddepcontrol_wait() end -- what comes behind this kernel then comes behind the one before it
end

local function copy_values(g)
  local k, p, at = g.k, g.p, g.at
  copies.emit(g, g.rings.values, {
    copies.operand(k, p.v, g.maps.V, k:address(g.buffers.v), at.head, { column = at.column }),
  }, true)
end

-- What the CTA computes (sequences.lua), and besides half, that of the head's columns of V.
local function tile_of(g)
  local k, p, at = g.k, g.p, {}
  at.half = p.by_channel and k:special "ctaid.x" & 1 or k:special "cluster_ctarank"
  at.column, at.head = at.half << 6, k:special "ctaid.y"
  return sequences.complete(g, at, (p.by_channel or p.image or p.segments > 1) and function()
    at.record = p.packed and records.first_packed(at.start, at.batch) or at.batch * at.chunks
  end)
end

local kinds <const> = { "sum", "factor" } -- of a summary (recurrence.lua)

--- The kernel of a plan (of plan.make), with these parameters; its CTAs are half of V, head, and sequence. While it is
--- emitted it is a table `g`: k, p; maps and sizes, its parameters; buffers and rings; at, what the CTA computes.
function module.make(p, list)
  local pass = p.reversed and reverse or recurrence
  local grid = { p.dim // p.columns, p.heads, "any" } -- along z sequences, or segments of them
  local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.sharing }, grid = grid }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    g.buffers, g.rings = stages_of(k, p)
    if p.leads then dependent_launch.begin(k) end
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "K", "Q", "V", "O", "M" } do
        if g.maps[name] then k:prefetch_tensormap(g.maps[name]) end
      end
      for _, name in ipairs { "keys", "values", "prepared", "of_p", "outputs", "factors" } do
        if g.rings[name] then g.rings[name]:init() end
      end
    end)
    if p.makes_t then
      preparation.clear(k, k:address(g.buffers.t), p.t_stages * p.t.bytes, thread, p.threads)
      k:fence_proxy_async { space = "shared::cta" }
    end
    meeting.all(k, p.sharing)
    g.at = tile_of(g)
    local role = k:shfl_sync_idx_b32(thread >> 7, 0, 31)
    -- The role of the warpgroup from `number` on: recurrences, and then those that prepare.
    local function emit(number)
      local function states()
        if p.threads > 256 then k:setmaxnreg_inc(p.registers.recurrence) end
        pass.emit(g, p.summary and kinds[number])
      end
      if number > p.kinds then
        k:setmaxnreg_dec(p.registers.preparation)
        preparation.emit(g, role - (1 + p.kinds))
      elseif number == p.kinds and p.by_channel then
        states()
      else
        k:if_(role:eq(number), states, function() emit(number + 1) end)
      end
    end
    k:if_(role:eq(0), function()
      if p.threads > 256 then k:setmaxnreg_dec(p.registers.copies) end
      k:if_(thread:eq(0), function()
        if p.passes then segments.copy(g) end
        (p.by_channel and copy_records or copy_keys)(g)
      end)
      if not p.by_channel then k:if_((thread >> 5):eq(1), function() gates.emit(g) end) end
      if not p.summary then k:if_((thread >> 5):eq(2), function() results.emit(g) end) end
      k:if_(thread:eq(96), function() copy_values(g) end)
    end, function() emit(1) end)
    if p.sharing > 1 then meeting.all(k, p.sharing) end -- the other CTA may still need this one's memory
  end)
  kernel:launch_rule { notes = parameters.notes(list) }
  return kernel
end

return module
