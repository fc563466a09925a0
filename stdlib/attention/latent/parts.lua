-- Parts of sequences that several CTAs have had, for wg.mla_decode: a CTA that has done all of its units waits for the
-- other parts of those that it shares, and adds up some of the columns of each, in the order of the parts. All CTAs of
-- the grid run at a time, so that none waits in vain.

local decode_finish = require "wgrun.attention.decode.finish"
local completion = require "wgrun.attention.latent.completion"

local module = {}

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
      local place = completion.of_cta(me.g, slot_of(part))
      local in_part = first * completion.four + (me.thread << 2)
      local values, from = {}, k:element(sizes.partials, place * (64 * p.value_dim) + in_part)
      for j = 0, at_once - 1 do
        values[j] = k:regs("f32", 4)
        for r = 0, 3 do k:mov(values[j][r], 0.0) end
        k:ld_global_v4_f32(values[j], from, { offset = 4 * completion.four * j, guard = there })
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
  local inverse = { [0] = completion.inverse_of(me, totals[0].sum), completion.inverse_of(me, totals[1].sum) }
  completion.store_pairs(me, at, first << 3, at_once, function(half, j)
    local v = totals[half].values
    return v[2 * j] * inverse[half], v[2 * j + 1] * inverse[half]
  end)
  for half = 0, 1 do
    completion.store_lse(me, at, half, totals[half].top, totals[half].sum, me.first_lane & first:eq(0))
  end
end

-- The CTA's share of the columns of a tile that is in parts, of which it has the one called `number`.
local function add_columns(me, at, parts, slot_of, number)
  local k, p = me.k, me.p
  local function each(at_once, parts_at_once)
    local groups = 2 * completion.fours_of(p) // at_once
    local from, to = k:div(number * groups, parts), k:div((number + 1) * groups, parts)
    k:loop({ from = from + me.number, to = to, step = 2 }, function(group)
      add_parts(me, at, parts, slot_of, group * at_once, at_once, parts_at_once)
    end)
  end
  k:if_(parts:le(8), function() each(4, 4) end, function() each(1, 16) end)
end

--- What a consumer does behind all units: it adds up parts.
function module.emit(me, work)
  local k = me.k
  work.each_unit(function(at, count)
    k:if_(count:ne(at.blocks), function()
      local _, parts, slot_of, number = work.slots(at)
      local counter = k:element(me.g.sizes.counters, completion.tile_of(me, at))
      wait_for_parts(me, counter, parts)
      local in_parts = k:ld_acquire_gpu_global_u32(counter):lt(completion.done)
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
