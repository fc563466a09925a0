-- The end of a work unit of wg.mla_decode. Where a CTA has had all keys of a sequence, it stores O. Otherwise it keeps
-- its part in memory, as its accumulators lie in registers: 16 bytes of each thread side by side. When the CTA has done
-- all of its units it waits for the other parts of those that it shares with others, and adds up a part of the columns
-- of each. All CTAs of the grid are there at a time, so that none waits in vain.

local decode_finish = require "wgrun.attention.decode.finish"
local warps = require "wgrun.builder.warp"
local elements = require "wgrun.tile.elements"

local module = {}

-- Fours of accumulators that a thread of a consumer has, and elements of a four of all its threads.
local function fours_of(p) return p.value_dim // 16 end
local four = 4 * 128

-- The number that the CTA has among those of all clusters, of one that its cluster has.
local function of_cta(g, number)
  return g.p.cluster > 1 and number * g.p.cluster + g.k:special "cluster_ctarank" or number
end

-- The number of a unit's tile among those of all sequences.
local function tile_of(me, at) return of_cta(me.g, at.batch * me.p.kv_heads + at.head) end

--- The first of the CTA's rows among those of the sequence.
function module.first_row(g, at) return of_cta(g, at.head) << 6 end

-- Stores pairs of columns of the thread's two rows: values(half) gives the pairs, from column `first` on in steps of 8.
local function store_pairs(me, at, first, count, values)
  local k, p = me.k, me.p
  local row = module.first_row(me.g, at) + me.row
  for half = 0, 1 do
    local inside = row + 8 * half
    local to = k:element(me.g.sizes.O, (at.batch * p.rows + inside) * p.value_dim + (first + me.column))
    local guard = inside:lt(p.rows)
    for i = 0, count - 1 do
      local x, y = values(half, i)
      k:st_global_b32(to, elements.to_output[p.dtype](k, x, y), { offset = 16 * i, guard = guard })
    end
  end
end

-- 1 / sum, and 0 for a row that has seen no key.
local function inverse_of(k, sum)
  local inverse = k:rcp_approx_ftz(sum)
  k:mov(inverse, 0.0, { guard = sum:eq(0.0) })
  return inverse
end

local function store_lse(me, at, half, top, sum, guard)
  local k, p = me.k, me.p
  if not p.lse then return end
  local row = module.first_row(me.g, at) + me.rows[half]
  local logarithm = (k:lg2_approx_ftz(sum) + top) * math.log(2)
  k:mov(logarithm, -math.huge, { guard = sum:eq(0.0) })
  local line = at.batch * p.rows + row
  if p.queries > 1 then -- rows are queries x heads, lse is heads x queries
    local query = k:div(row, p.heads)
    line = at.batch * p.rows + (row - query * p.heads) * p.queries + query
  end
  k:st_global_f32(k:element(me.g.sizes.lse, line), logarithm, { guard = guard & row:lt(p.rows) })
end

-- Of a unit that is the first of two parts: whether the other one is there, as all learn from one thread's look at the
-- counter.
local function look(me, at, first_of_two)
  local k = me.k
  k:if_(k:special "tid.x":eq(128), function()
    local seen = k:mov(0, { type = "u32" })
    k:if_(first_of_two, function() k:ld_acquire_gpu_global_u32(seen, k:element(me.g.sizes.counters, tile_of(me, at))) end)
    k:st_shared_u32(k:address(me.g.buffers.seen, me.query.phase << 2), seen)
  end)
  return function() return k:ld_shared_u32(k:address(me.g.buffers.seen, me.query.phase << 2)):eq(1) end
end

-- Adds the other part of two, which is in memory, to the accumulators, as add_parts does.
local function add_other(me, place, tops, sums)
  local k, p, sizes, weights = me.k, me.p, me.g.sizes, {}
  for half = 0, 1 do
    local two = k:ld_global_v2_f32(k:element(sizes.part_sums, (place << 7) + (me.rows[half] << 1)))
    local top = k:max(tops[half], two[0])
    weights[half] = { k:ex2_approx_ftz(tops[half] - top), k:ex2_approx_ftz(two[0] - top) }
    k:mov(sums[half], k:fma(two[1], weights[half][2], sums[half] * weights[half][1]))
    k:mov(tops[half], top)
  end
  local from = k:element(sizes.partials, place * (64 * p.value_dim) + ((me.thread << 2) + me.number * (fours_of(p) * four)))
  local at_once = 8
  for first = 0, fours_of(p) - 1, at_once do
    local loaded = {}
    for i = first, first + at_once - 1 do loaded[i] = k:ld_global_v4_f32(from, { offset = 4 * four * i }) end
    for i = first, first + at_once - 1 do
      for j = 0, 3 do
        local own, weight = me.acc[4 * i + j], weights[j // 2]
        k:fma(own, loaded[i][j], weight[2], own * weight[1])
      end
    end
    me.sync() -- otherwise ptxas loads all of them first
  end
end

-- The sums of exponentials of the thread's rows, of both consumers' blocks.
local function whole_sums(me)
  local k, own, sums = me.k, {}, {}
  -- in turns, since the other consumer may still read the sums of the unit before
  local buffer = k:address(me.g.buffers.sums, me.query.phase << 9)
  local function place(number, half) return buffer + (number << 8) + (me.rows[half] << 2) end
  for half = 0, 1 do
    own[half] = warps.over_lanes(k, me.soft.sum[half], function(x, y) return k:add(x, y) end)
    k:st_shared_f32(place(me.number, half), own[half], { guard = me.first_lane })
  end
  me.meet()
  for half = 0, 1 do sums[half] = own[half] + k:ld_shared_f32(place(me.number ~ 1, half)) end
  return sums
end

-- Puts the part into its slot and counts it.
local function keep(me, at, slot, tops, sums)
  local k, p, sizes = me.k, me.p, me.g.sizes
  local place = of_cta(me.g, slot)
  local to = k:element(
    sizes.partials, place * (64 * p.value_dim) + ((me.thread << 2) + me.number * (fours_of(p) * four)))
  for i = 0, fours_of(p) - 1 do k:st_global_v4_f32(to, me.acc:slice(4 * i, 4), { offset = 4 * four * i }) end
  for half = 0, 1 do
    k:st_global_v2_f32(
      k:element(sizes.part_sums, (place << 7) + (me.rows[half] << 1)), { tops[half], sums[half] },
      { guard = me.first_lane & me.number:eq(0) })
  end
  me.meet()
  k:red_global_add_u32(
    k:element(sizes.counters, tile_of(me, at)), 1, { sem = "release.gpu", guard = k:special "tid.x":eq(128) })
end

-- The counter of a tile whose second part has been added to the first one's registers.
local done = 1 << 31

--- What a consumer does with its accumulators behind the last block of a unit.
function module.unit(me, at, count, work)
  local k, p, tops = me.k, me.p, {}
  local whole = count:eq(at.blocks)
  local own, parts, slot_of = work.slots(at)
  local is_there = look(me, at, ~whole & at.block:eq(0) & parts:eq(2 + 1000 * (1 - p.E)))
  local sums = whole_sums(me)
  local other = is_there()
  for half = 0, 1 do tops[half] = me.soft.top[half] * me.soft.scale end
  k:if_(whole | other, function()
    k:if_(other, function()
      add_other(me, of_cta(me.g, slot_of(k:mov(1, { type = "u32" }))), tops, sums)
      k:st_release_gpu_global_u32(
        k:element(me.g.sizes.counters, tile_of(me, at)), done, { guard = k:special "tid.x":eq(128) })
    end)
    local inverse = { [0] = inverse_of(k, sums[0]), inverse_of(k, sums[1]) }
    store_pairs(me, at, me.number * (p.value_dim // 2), p.value_dim // 16, function(half, i)
      local r = 4 * i + 2 * half
      return me.acc[r] * inverse[half], me.acc[r + 1] * inverse[half]
    end)
    for half = 0, 1 do store_lse(me, at, half, tops[half], sums[half], me.first_lane & me.number:eq(0)) end
  end, function()
    keep(me, at, own, tops, sums)
  end)
end

-- Waits until all parts of the tile are there.
local function wait_for_parts(me, counter, parts)
  local k = me.k
  k:if_(me.thread:eq(0), function()
    k:while_(function() return k:ld_acquire_gpu_global_u32(counter):lt(parts) end, function() end)
  end)
  me.sync()
end

-- Adds up the parts of `at_once` neighbouring fours, from `first` on; the loads of some parts are in flight together.
local function add_parts(me, at, parts, slot_of, first, at_once, parts_at_once)
  local k, p, sizes = me.k, me.p, me.g.sizes
  local totals = {}
  for half = 0, 1 do totals[half] = decode_finish.total_of(k, 2 * at_once) end
  k:loop({ from = 0, to = parts, step = parts_at_once }, function(number)
    local loaded = { [0] = {}, {} }
    for i = 0, parts_at_once - 1 do
      local part = i == 0 and number or number + i
      local there = part:lt(parts)
      local place = of_cta(me.g, slot_of(part))
      local values, from = {}, k:element(sizes.partials, place * (64 * p.value_dim) + (first * four + (me.thread << 2)))
      for j = 0, at_once - 1 do
        values[j] = k:regs("f32", 4)
        for r = 0, 3 do k:mov(values[j][r], 0.0) end
        k:ld_global_v4_f32(values[j], from, { offset = 4 * four * j, guard = there })
      end
      for half = 0, 1 do
        local two = k:regs("f32", 2)
        k:mov(two[0], decode_finish.nothing)
        k:mov(two[1], 0.0)
        k:ld_global_v2_f32(two, k:element(sizes.part_sums, (place << 7) + (me.rows[half] << 1)), { guard = there })
        local own = {}
        for j = 0, at_once - 1 do
          for c = 0, 1 do own[2 * j + c] = values[j][2 * half + c] end
        end
        loaded[half][i + 1] = { top = two[0], sum = two[1], values = own }
      end
    end
    for half = 0, 1 do totals[half].add(loaded[half]) end
  end)
  local inverse = { [0] = inverse_of(k, totals[0].sum), inverse_of(k, totals[1].sum) }
  store_pairs(me, at, first << 3, at_once, function(half, j)
    local v = totals[half].values
    return v[2 * j] * inverse[half], v[2 * j + 1] * inverse[half]
  end)
  for half = 0, 1 do
    store_lse(me, at, half, totals[half].top, totals[half].sum, me.first_lane & first:eq(0))
  end
end

-- The CTA's share of the columns of a tile that is in parts, of which it has the one called `number`.
local function add_columns(me, at, parts, slot_of, number)
  local k, p = me.k, me.p
  local function each(at_once, parts_at_once)
    local groups = 2 * fours_of(p) // at_once
    local from, to = k:div(number * groups, parts), k:div((number + 1) * groups, parts)
    k:loop({ from = from + me.number, to = to, step = 2 }, function(group)
      add_parts(me, at, parts, slot_of, group * at_once, at_once, parts_at_once)
    end)
  end
  k:if_(parts:le(8), function() each(4, 4) end, function() each(1, 16) end)
end

--- What a consumer does behind all units: it adds up parts.
function module.parts(me, work)
  local k = me.k
  work.each_unit(function(at, count)
    k:if_(count:ne(at.blocks), function()
      local _, parts, slot_of, number = work.slots(at)
      local counter = k:element(me.g.sizes.counters, tile_of(me, at))
      wait_for_parts(me, counter, parts)
      local in_parts = k:ld_acquire_gpu_global_u32(counter):lt(done)
      me.meet() -- both have seen the counter
      k:if_(in_parts, function() add_columns(me, at, parts, slot_of, number) end)
      me.sync()
      -- Who is done last makes the counter 0 again: each consumer of each part counts.
      k:if_(me.thread:eq(0), function()
        local before = k:atom_global_add_u32(counter, 1 << 16, { sem = "acq_rel.gpu" })
        k:st_global_u32(counter, 0, { guard = (before >> 16 & 0x7FFF):eq(2 * parts - 1) })
      end)
    end)
  end)
end

return module
