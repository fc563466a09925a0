-- The end of a work unit of wg.mla_decode. Where a CTA has had all keys of a sequence, it stores O. Otherwise it keeps
-- its part in memory, as its accumulators lie in registers: 16 bytes of each thread side by side. The first of two
-- parts, which mostly ends long after the second one, finds that complete and adds it to its registers. What is left is
-- added up when the CTA has done all of its units (attention/latent/parts.lua).

local warps = require "wgrun.builder.warp"
local elements = require "wgrun.tile.elements"

local module = {}

--- Fours of accumulators that a thread of a consumer has, and elements of a four of all its threads.
function module.fours_of(p) return p.value_dim // 16 end
module.four = 4 * 128

-- The first thread of the consumers.
local function leads(me) return me.k:special "tid.x":eq(128 * me.p.copiers) end

--- The number that the CTA has among those of all clusters, of one that its cluster has.
function module.of_cta(g, number)
  return g.p.cluster > 1 and number * g.p.cluster + g.k:special "cluster_ctarank" or number
end

--- The number of a unit's tile among those of all sequences.
function module.tile_of(me, at) return module.of_cta(me.g, at.batch * me.p.kv_heads + at.head) end

--- The address of the two counters of a unit's tile: its state, and the shares of its columns that have been taken. The
--- state has the parts that are in memory in its bits `arrived`, above them the consumers that are done with the tile,
--- and in the last one, `done`, whether a CTA has added the second of two parts to the first one, in its registers.
function module.counter_of(me, at) return me.k:element(me.g.sizes.counters, module.tile_of(me, at) << 1) end
module.arrived, module.done = 0xFFFF, 1 << 31

--- The first of the CTA's rows among those of the sequence.
function module.first_row(g, at) return module.of_cta(g, at.head) << 6 end

--- Stores pairs of columns of the thread's two rows, as values(half, i) gives them, from column `first` on in steps of
--- 8. Of four steps, each lane stores one, 16 bytes: with 4 bytes of each, the stores of O took 2 to 3 us
--- (docs/experiments/mla_decoding.md).
function module.store_pairs(me, at, first, count, values)
  local k, p = me.k, me.p
  local row, fours = module.first_row(me.g, at) + me.row, count % 4 == 0
  local column = first + (fours and (me.lane & 3) << 3 or me.column)
  for half = 0, 1 do
    local inside = row + 8 * half
    local to = k:element(me.g.sizes.O, (at.batch * p.rows + inside) * p.value_dim + column)
    local guard = inside:lt(p.rows)
    local function word(i) return elements.to_output[p.dtype](k, values(half, i)) end
    for i = 0, count - 1, fours and 4 or 1 do
      if fours then
        local words = warps.transposed(k, { [0] = word(i), word(i + 1), word(i + 2), word(i + 3) }, me.lane)
        k:st_global_v4_b32(to, words, { offset = 16 * i, guard = guard })
      else
        k:st_global_b32(to, word(i), { offset = 16 * i, guard = guard })
      end
    end
  end
end

--- What makes a row of O of its sums: 1 / sum, times what the cache is multiplied by, and 0 for a row that has seen no
--- key.
function module.inverse_of(me, sum)
  local k, inverse = me.k, me.k:rcp_approx_ftz(sum)
  if me.descale then inverse = inverse * me.descale end
  k:mov(inverse, 0.0, { guard = sum:eq(0.0) })
  return inverse
end

--- Stores the log-sum-exp of the thread's row `half`.
function module.store_lse(me, at, half, top, sum, guard)
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

-- Of a unit that is the first of two parts, one thread looks at the counter. Returns a function that gives, when all
-- have met, whether the other part is there.
local function look(me, at, first_of_two)
  local k = me.k
  local function shown() return k:address(me.g.buffers.seen, me.query.phase << 2) end
  k:if_(leads(me), function()
    local seen = k:mov(0, { type = "u32" })
    k:if_(first_of_two, function()
      k:ld_acquire_gpu_global_u32(seen, module.counter_of(me, at))
    end)
    k:st_shared_u32(shown(), seen)
  end)
  return function() return (k:ld_shared_u32(shown()) & module.arrived):eq(1) end
end

-- The address of the thread's first four in a part.
local function own_fours(me, place)
  local p = me.p
  local in_part = (me.thread << 2) + me.number * (module.fours_of(p) * module.four)
  return me.k:element(me.g.sizes.partials, place * (64 * p.value_dim) + in_part)
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
  local from = own_fours(me, place)
  -- In loops of one round: otherwise ptxas loads all of them before it adds the first.
  local at_once, once = 8, k:mov(1, { type = "u32" })
  k:shfl_sync_idx_b32(once, once, 0, 31)
  for first = 0, module.fours_of(p) - 1, at_once do
    k:loop(once, function()
      local loaded = {}
      for i = first, first + at_once - 1 do loaded[i] = k:ld_global_v4_f32(from, { offset = 4 * module.four * i }) end
      for i = first, first + at_once - 1 do
        for j = 0, 3 do
          local own, weight = me.acc[4 * i + j], weights[j // 2]
          k:fma(own, loaded[i][j], weight[2], own * weight[1])
        end
      end
    end)
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
  local place = module.of_cta(me.g, slot)
  local to = own_fours(me, place)
  for i = 0, module.fours_of(p) - 1 do
    k:st_global_v4_f32(to, me.acc:slice(4 * i, 4), { offset = 4 * module.four * i })
  end
  for half = 0, 1 do
    k:st_global_v2_f32(
      k:element(sizes.part_sums, (place << 7) + (me.rows[half] << 1)), { tops[half], sums[half] },
      { guard = me.first_lane & me.number:eq(0) })
  end
  me.meet()
  k:red_global_add_u32(module.counter_of(me, at), 1, { sem = "release.gpu", guard = leads(me) })
end

--- What a consumer does with its accumulators behind the last block of a unit.
function module.unit(me, at, count, work)
  local k, p, tops = me.k, me.p, {}
  local whole = count:eq(at.blocks)
  local own, parts, slot_of = work.slots(at)
  local is_there = look(me, at, ~whole & at.block:eq(0) & parts:eq(2))
  local sums = whole_sums(me)
  local other = is_there()
  for half = 0, 1 do tops[half] = me.soft.top[half] * me.soft.scale end
  k:if_(whole | other, function()
    k:if_(other, function()
      add_other(me, module.of_cta(me.g, slot_of(k:mov(1, { type = "u32" }))), tops, sums)
      k:red_global_add_u32(module.counter_of(me, at), module.done, { sem = "release.gpu", guard = leads(me) })
    end)
    local inverse = { [0] = module.inverse_of(me, sums[0]), module.inverse_of(me, sums[1]) }
    module.store_pairs(me, at, me.number * (p.value_dim // 2), p.value_dim // 16, function(half, i)
      local r = 4 * i + 2 * half
      return me.acc[r] * inverse[half], me.acc[r + 1] * inverse[half]
    end)
    for half = 0, 1 do module.store_lse(me, at, half, tops[half], sums[half], me.first_lane & me.number:eq(0)) end
  end, function()
    keep(me, at, own, tops, sums)
  end)
end

return module
