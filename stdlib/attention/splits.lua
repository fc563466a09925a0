-- Parts of the keys in wg.attention, where there are fewer tiles than SMs. The CTAs of a cluster have the same queries,
-- and each has a part of the keys that these see. They send each other their results, straight from registers to the
-- other's shared memory (st.async, PTX ISA 9.7.9.12). Each part of a row is relative to its own maximum. Maxima and
-- sums go to all CTAs, O to the CTA that owns its columns, which adds up the parts in a fixed order, and stores them. O
-- arrives in the stages of K and V, and therefore not before all CTAs are done with theirs.

local wg = require "wgrun"
local sink = require "wgrun.attention.sink"
local division = require "wgrun.builder.division"
local warps = require "wgrun.builder.warp"
local cost_fitted = require "wgrun.cost.fitted"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fitted, ceil_div = cost_fitted.attention, roofline.ceil_div
local unit_bytes = 128 * 16 -- of eight columns of a consumer's rows: four registers of each thread
local row_bytes = 32 * 16 -- of its rows' maxima and sums: two rows for every four lanes

--- How CTAs share the columns of O: `units` of eight in all, `share` for each of the first `owners` of them; the last
--- owner may have fewer, `rest`. Then the bytes that each of the other parts brings to a consumer, `k` in the stages of
--- K and `v` in those of V, and the bytes of the `maxima` and sums that a CTA receives.
function module.join_plan(p, splits)
  local units = p.value_dim // 8
  local share = ceil_div(units, splits)
  local owners = ceil_div(units, share)
  return {
    units = units, share = share, owners = owners, rest = units - (owners - 1) * share,
    k = ceil_div(share, 2) * unit_bytes, v = share // 2 * unit_bytes, maxima = (splits - 1) * p.consumers * row_bytes,
  }
end

--- Where so many parts bring more than fits into so many stages of K or of V: whose stages, the bytes that come, and
--- those that there are; otherwise nil.
function module.join_lacks(p, splits, stages)
  local join = module.join_plan(p, splits)
  for _, place in ipairs { { "K", join.k, p.dim }, { "V", join.v, p.value_dim } } do
    local bytes, room = (splits - 1) * p.consumers * place[2],
      stages * p.block * place[3] * native.element_bytes[p.dtype]
    if bytes > room then return place[1], bytes, room end
  end
end

-- Whether a CTA's shared memory has room for the queries, two stages of K and V or more, and what so many parts bring.
local function fits(p, splits)
  local bytes = native.element_bytes[p.dtype]
  local room = wg.target.cta_shared - 1024 - p.m * p.dim * bytes - module.join_plan(p, splits).maxima
  local stages = math.min(module.split_stages(p), room // (p.block * (p.dim + p.value_dim) * bytes))
  return stages >= 2 and not module.join_lacks(p, splits, stages)
end

module.most = 16

--- How many parts the keys of a tile should have: those of the `problem` where it has all three lengths, otherwise 1.
--- The model is how long the longest CTA takes, in ns, with a start of its own for each round of clusters, as measured
--- on an H200 (docs/experiments/attention.md).
function module.choose(p, problem)
  if p.fp8 or p.split_columns or not (problem and problem[3]) then return 1 end
  local tiles, keys = ceil_div(problem[1], p.m) * p.heads * problem[3], problem[2]
  if p.window then keys = math.min(keys, p.m + p.window * (p.causal and 1 or 2)) end
  if tiles > roofline.sms() then return 1 end
  local key = (fitted.key[p.dim] + fitted.key[p.value_dim]) / 2
  local block_time = p.block * key * (p.m == 192 and fitted.wide or 1)
  local best, least = 1, math.huge
  for splits = 1, roofline.sms() < wg.target.multiprocessors and wg.target.portable_cluster or module.most do
    local join = splits > 1 and fitted.join + fitted.join_part * (splits - 1) or 0
    local time = ceil_div(tiles, roofline.clusters_at_a_time(splits)) * (
      fitted.start + join + ceil_div(ceil_div(keys, p.block), splits) * block_time)
    if time < fitted.splits_gain * least and (splits == 1 or fits(p, splits)) then
      best, least = splits, time
    end
  end
  return best
end

--- The stages of K and of V, where these have to hold the parts of O and there is one of the queries.
function module.split_stages(p) return p.dim <= 96 and 4 or p.stages end

--- Leaves the CTA's part of the tile's key blocks in `at`, and in at.some whether there are any.
function module.part(k, p, at)
  local rank, count = k:special "cluster_ctarank", at.last + 1 - at.first
  local from = division.divided(k, rank * count, p.splits) + at.first
  local to = division.divided(k, (rank + 1) * count, p.splits) + at.first
  at.first, at.last, at.some = from, to - 1, from:lt(to)
end

--- The mbarriers: `free` counts the warps of the cluster that need the stages of K and V no more, `arrived` the bytes
--- for a consumer. One thread calls it, before pipeline:init, whose fence is for them too.
function module.begin_join(k, p, buffers)
  k:mbarrier_init(k:address(buffers.free), 4 * p.consumers * p.splits)
  for c = 0, p.consumers - 1 do k:mbarrier_init(k:address(buffers.arrived, 8 * c), 1) end
end

-- What the consumer receives: its bytes, and where they are.
local function inbox_of(me, buffers, rank)
  local k, p, join = me.k, me.p, me.p.join
  local thread = k:special "tid.x" & 127
  local places = {
    [0] = { base = k:address(buffers.k) + (thread << 4), bytes = join.k },
    { base = k:address(buffers.v) + (thread << 4), bytes = join.v },
  }
  local inbox = {
    arrived = k:address(buffers.arrived, me.number << 3),
    maxima = k:address(buffers.maxima) + (thread >> 2 << 4),
  }
  -- Of the part in a slot: the first byte of its maxima, and of its even (0) or odd (1) units of O.
  function inbox.row(slot) return inbox.maxima + (slot * p.consumers + me.number) * row_bytes end
  function inbox.units(slot, odd) return places[odd].base + (slot * p.consumers + me.number) * places[odd].bytes end
  local own_units = k:min((rank + 1) * join.share, join.units) - k:min(rank * join.share, join.units)
  inbox.bytes = (own_units * unit_bytes + row_bytes) * (p.splits - 1)
  return inbox
end

-- Waits until no CTA of the cluster needs its stages any more; before that expects what will arrive in them.
local function meet(me, buffers, inbox)
  local k, free = me.k, me.k:address(buffers.free)
  k:mbarrier_arrive_expect_tx(inbox.arrived, inbox.bytes, { guard = me.leader })
  k:mbarrier_arrive(k:mapa(free, me.lane), { space = "shared::cluster", guard = me.lane:lt(me.p.splits) })
  k:mbarrier_wait(free, 0)
end

-- Sends maxima and sums, `rows`, to all other CTAs, and to each the columns of O that it owns; returns one's own.
local function send(me, inbox, rank, rows)
  local k, p, join = me.k, me.p, me.p.join
  local owned = k:regs("f32", 4 * join.share)
  for r = 0, #owned - 1 do k:mov(owned[r], 0) end
  for to = 0, p.splits - 1 do
    local own, others = rank:eq(to), rank:ne(to)
    local slot = k:selp_b32(rank - 1, rank, rank:gt(to), { type = "u32" })
    local counted = k:mapa(inbox.arrived, to)
    k:st_async_v4_f32(k:mapa(inbox.row(slot), to), rows, counted, { guard = others & (me.lane & 3):eq(0) })
    local bases = {}
    for unit = to * join.share, math.min((to + 1) * join.share, join.units) - 1 do
      local mine = unit - to * join.share
      local odd, ahead = mine % 2, mine // 2 * unit_bytes
      bases[odd] = bases[odd] or k:mapa(inbox.units(slot, odd), to)
      k:st_async_v4_f32(
        ahead == 0 and bases[odd] or bases[odd] + ahead, me.acc:slice(4 * unit, 4), counted, { guard = others })
      for i = 0, 3 do k:mov(owned[4 * mine + i], me.acc[4 * unit + i], { guard = own }) end
    end
  end
  return owned
end

-- Puts the rows' maxima and sums over all parts into the softmax. Returns for each part and half the factor that makes
-- its O relative to them: [slot][half], that of one's own part in the slot behind those of the others.
local function weigh(me, inbox, rows)
  local k, p, soft, scale = me.k, me.p, me.soft, me.factors.scale
  local parts, weights = { [p.splits - 1] = rows }, {}
  for slot = 0, p.splits - 2 do parts[slot], weights[slot] = k:ld_shared_v4_f32(inbox.row(slot)), {} end
  weights[p.splits - 1] = {}
  for half = 0, 1 do
    local top, sum = parts[0][2 * half], nil
    for slot = 1, p.splits - 1 do top = k:max(top, parts[slot][2 * half]) end
    k:mov(soft.top[half], top)
    local shown = k:mov(top, { type = "f32" })
    k:mov(shown, 0.0, { guard = top:eq(-math.huge) }) -- -inf - -inf is no number
    local ahead = k:neg(shown * scale)
    for slot = 0, p.splits - 1 do
      local weight = k:ex2_approx_ftz(k:fma(parts[slot][2 * half], scale, ahead))
      local part = parts[slot][2 * half + 1]
      weights[slot][half], sum = weight, sum and k:fma(part, weight, sum) or part * weight
    end
    k:mul(soft.sum[half], sum, 0.25) -- softmax:finish adds up four lanes
  end
  return weights
end

-- Adds the other parts to one's own, in units `from` to before `to` of the columns.
local function add(me, inbox, owned, weights, from, to)
  local k, last = me.k, me.p.splits - 1
  for r = 4 * from, 4 * to - 1 do k:mul(owned[r], owned[r], weights[last][r // 2 % 2]) end
  for slot = 0, last - 1 do
    for unit = from, to - 1 do
      local theirs = k:ld_shared_v4_f32(inbox.units(slot, unit % 2), { offset = unit // 2 * unit_bytes })
      for i = 0, 3 do k:fma(owned[4 * unit + i], theirs[i], weights[slot][i // 2], owned[4 * unit + i]) end
    end
  end
end

--- What a consumer does with the O of its part of the keys, me.acc, which is complete: puts it together with those of
--- the other CTAs, and stores the columns that it owns, and the log-sum-exp in the first CTA.
function module.join(me, at, output)
  local k, p, buffers, soft = me.k, me.p, me.buffers, me.soft
  local join = p.join
  local rank = k:special "cluster_ctarank"
  local rows, inbox = k:regs("f32", 4), inbox_of(me, buffers, rank)
  for half = 0, 1 do
    k:mov(rows[2 * half], soft.top[half])
    k:mov(rows[2 * half + 1], warps.over_lanes(k, soft.sum[half], function(x, y) return k:add(x, y) end))
  end
  meet(me, buffers, inbox)
  local owned = send(me, inbox, rank, rows)
  k:mbarrier_wait(inbox.arrived, 0)
  local weights = weigh(me, inbox, rows)
  local inverse, logarithm = soft:finish(sink.load(k, p, me.sizes, at.head))
  local row = output.row(at)
  if p.lse then k:if_(rank:eq(0), function() output.store_lse(at, row, logarithm) end) end
  for half = 0, p.dropout and 1 or -1 do inverse[half] = inverse[half] * me.sizes.kept_factor end
  for slot = 0, p.splits - 1 do
    for half = 0, 1 do weights[slot][half] = weights[slot][half] * inverse[half] end
  end
  local function finish(from, to)
    add(me, inbox, owned, weights, from, to)
    output.store_pairs(at, row, owned:slice(4 * from, 4 * (to - from)), (rank * join.share + from) << 3)
  end
  local function in_first(owners, body)
    if owners == p.splits then return body() end
    k:if_(rank:lt(owners), body)
  end
  in_first(join.owners, function() finish(0, join.rest) end)
  if join.rest < join.share then in_first(join.owners - 1, function() finish(join.rest, join.share) end) end
end

return module
