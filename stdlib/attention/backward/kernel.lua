-- The kernel of wg.attention_backward, after FlashAttention-3 (Shah et al. 2024): dQ, dK and dV of O = softmax(Q K^T)
-- V, with the probabilities P computed anew from the scores and the rows' log-sum-exp. A CTA has a block of keys and
-- passes over the queries that see them. A producer thread copies, and two consumer warpgroups work on transposed
-- products:
--
--   S^T = K Q^T,  dP^T = V dO^T,  P^T = exp(S^T - lse),  dS^T = P^T (dP^T - delta),  dV += P^T dO,  dK += dS^T Q,  dQ =
--                 dS K
--
-- dQ is a sum over keys: dS of all consumers meets in shared memory, each consumer computes its share of dQ and adds it
-- to f32 sums in global memory. The factor of the scores is applied to dQ and dK at their end. The consumers stand in
-- attention/backward/consume.lua and, for heads of more than 128 elements, attention/backward/wide.lua.

local wg = require "wgrun"
local backward_consume = require "wgrun.attention.backward.consume"
local exchange = require "wgrun.attention.backward.exchange"
local paired = require "wgrun.attention.backward.paired"
local scheduler = require "wgrun.attention.backward.scheduler"
local shares = require "wgrun.attention.backward.shares"
local wide = require "wgrun.attention.backward.wide"
local tensors = require "wgrun.attention.tensors"
local meeting = require "wgrun.builder.meeting"
local parameters = require "wgrun.builder.parameters"

local module = {}

local function produce(g)
  local k, p, rings, maps, buffers, at = g.k, g.p, g.rings, g.maps, g.buffers, g.at
  local copy = tensors.loader(k, p)
  local shared = p.cluster > 1 and exchange.share_copies(g, copy)
  local keys = rings.keys:expect(rings.keys:cursor(), 2 * p.k.bytes + (shared and p.half_k.bytes or 0))
  local function row_of(key) return p.packed and at.key_start + key or key end
  copy(p.k, k:address(buffers.k), maps.K, at, row_of(at.own), keys)
  copy(p.k, k:address(buffers.v), maps.V, at, row_of(at.own), keys)
  if shared then shared.keys(row_of, keys) end
  local copy_rows = shared and shared.rows or copy
  local query, gradient = rings.q:cursor(), rings.gradient:cursor()
  local q, gradients, rows = k:address(buffers.q), k:address(buffers.gradient), k:address(buffers.stats)
  scheduler.each(g, function(block, head)
    local from, row = { batch = at.batch, head = head }, block * p.rows
    if p.packed then row = at.query_start + row end
    rings.q:acquire(query)
    copy_rows(p.q, q + query.stage * p.q.bytes, maps.Q, from, row, rings.q:expect(query, p.q.bytes))
    rings.q:advance(query)
    if p.stages.gradient == 1 then shared.prefetch(maps.dO, from, row) end
    rings.gradient:acquire(gradient)
    local barrier = rings.gradient:expect(gradient, p.q.bytes + p.stats_bytes)
    copy_rows(p.q, gradients + gradient.stage * p.q.bytes, maps.dO, from, row, barrier)
    k:cp_async_bulk(rows + gradient.stage * p.stats_bytes, k:mad_wide_u32(
      scheduler.number(p, at, block, head), p.stats_bytes, g.sizes.stats),
      p.stats_bytes, barrier)
    rings.gradient:advance(gradient)
  end)
end

-- The buffers in shared memory, and the rings over their stages. Bytes, not tiles: products read Q, K and dO along
-- either extent.
local function stages_of(k, p)
  local function shared(name, bytes) return k:shared { bytes = bytes, align = p.panel.align, name = name } end
  local arrivals = 4 * p.consumers * p.cluster
  local share, ring
  if p.staged then share, ring = shares.stages_of(k, p) end
  return {
    k = shared("K", p.k.bytes), v = shared("V", p.k.bytes), q = shared("Q", p.stages.q * p.q.bytes),
    gradient = shared("dO", p.stages.gradient * p.q.bytes), ds = shared("dS", 2 * p.ds.bytes),
    p = p.wide and shared("P", 2 * p.ds.bytes),
    stats = shared("stats", p.stages.gradient * p.stats_bytes), share = share,
    other_k = p.cluster > 1 and shared("K_other", p.half_k.bytes),
    other_ds = p.cluster > 1 and shared("dS_other", 2 * p.ds.bytes),
  }, {
    keys = k:pipeline { stages = 1, name = "keys" },
    q = k:pipeline { stages = p.stages.q, arrivals = arrivals, name = "query" },
    gradient = k:pipeline { stages = p.stages.gradient, arrivals = arrivals, name = "gradient" },
    share = ring, ds = p.cluster > 1 and k:pipeline { stages = 2, arrivals = arrivals, name = "dS" } or nil,
  }
end

--- The kernel of a plan (of plan.make), with these parameters; its CTAs are block of keys, head of K and V, and batch.
--- While it is emitted it is a table `g`: k, p; maps and sizes, its parameters; buffers and rings; at, the CTA's tile.
function module.make(p, list)
  local grid = { "any", p.kv_heads, "any" }
  return wg.kernel(p.name, { threads = p.threads, cluster = { p.cluster }, grid = grid }, function(k)
    local g = { k = k, p = p }
    g.maps, g.sizes = parameters.declare(k, list)
    local maps, consumers = g.maps, p.cluster > 1 and paired or p.wide and wide or backward_consume
    if p.packed then maps.dK, maps.dV = g.sizes.dK, g.sizes.dV end
    g.buffers, g.rings = stages_of(k, p)
    local thread = k:special "tid.x"
    k:if_(thread:eq(0), function()
      for _, name in ipairs { "K", "V", "Q", "dO", "dK", "dV" } do
        if maps[name].pointee == nil then k:prefetch_tensormap(maps[name]) end
      end
      for _, name in ipairs { "keys", "q", "gradient", "share", "ds" } do
        if g.rings[name] then g.rings[name]:init() end
      end
    end)
    meeting.all(k, p.cluster)
    g.at = scheduler.tile(g)
    -- Unless the block of keys lies beyond the end of a packed sequence.
    local function within(body)
      if p.packed then k:if_(g.at.key:lt(g.at.keys), body) else body() end
    end
    k:if_((thread >> 7):eq(0), function()
      k:setmaxnreg_dec(p.registers[1])
      k:if_(thread:eq(0), function() within(function() produce(g) end) end)
      if p.staged then k:if_(thread:eq(32), function() within(function() shares.add_all(g) end) end) end
    end, function()
      k:setmaxnreg_inc(p.registers[2])
      within(function() consumers.emit(g) end)
    end)
    if p.cluster > 1 then meeting.all(k, p.cluster) end -- the other CTA may still need this one's memory
  end)
end

return module
