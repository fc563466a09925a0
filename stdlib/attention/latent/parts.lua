-- Parts of sequences that several CTAs have had, for wg.mla_decode: a CTA that has done all of its units looks for the
-- other parts of those that it shares. Once all are there, its consumers take shares of the columns until none is left,
-- and add up the parts of each in their order, so that the result does not depend on who takes which share.
--
-- It looks for a while only. The CTA whose part comes last waits for nobody. So no CTA has to wait for one that may not
-- run before this one ends, and CTAs of a grid need not run at a time, whatever else is on the device.

local decode_finish = require "wgrun.attention.decode.finish"
local completion = require "wgrun.attention.latent.completion"

local module = {}

-- Looks at a tile's counter so often: about a millisecond, longer than CTAs of most launches are apart.
local patience = 1024

local function zero(k) return k:mov(0, { type = "u32" }) end

-- What thread 0 takes of a tile's shares: a number, for all threads of the consumer.
local function shared_number(me, number)
  local k = me.k
  local place = k:address(me.g.buffers.taken, me.number << 2)
  k:st_shared_u32(place, number, { guard = me.thread:eq(0) })
  me.sync()
  local taken = k:ld_shared_u32(place)
  me.sync() -- before the next number
  return taken
end

-- Takes the next share, in thread 0.
local function take(me, counter)
  local number = zero(me.k)
  me.k:if_(me.thread:eq(0), function() me.k:atom_global_add_u32(number, counter, 1, { offset = 4 }) end)
  return number
end

-- The first share that the consumer takes once all parts of the tile are there, in thread 0; `none` where the columns
-- are stored already, or some parts have not come for long.
local function first_share(me, counter, parts, none)
  local k = me.k
  local number, seen, looks = k:mov(none, { type = "u32" }), zero(k), zero(k)
  local function missing() return (seen & completion.arrived):lt(parts) & seen:lt(completion.done) end
  k:if_(me.thread:lt(32), function() -- a warp, whose lanes stay together
    k:while_(function() return missing() & looks:lt(patience) end, function()
      k:ld_acquire_gpu_global_u32(seen, counter)
      k:shfl_sync_idx_b32(seen, seen, 0, 31)
      k:add(looks, looks, 1)
    end)
    k:if_(~missing() & seen:lt(completion.done) & me.thread:eq(0), function()
      k:atom_global_add_u32(number, counter, 1, { offset = 4 })
    end)
  end)
  return number
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

-- A share of the columns of a tile that is in parts: one of two for each part.
local function add_columns(me, at, parts, slot_of, number)
  local k, p = me.k, me.p
  local function each(at_once, parts_at_once)
    local groups = completion.fours_of(p) // at_once
    local from, to = k:div(number * groups, parts), k:div((number + 1) * groups, parts)
    k:loop({ from = from, to = to }, function(group)
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
      local _, parts, slot_of = work.slots(at)
      local counter, shares = completion.counter_of(me, at), parts << 1
      local number = k:mov(shared_number(me, first_share(me, counter, parts, shares)), { type = "u32" })
      k:while_(function() return number:lt(shares) end, function()
        local following = take(me, counter) -- it comes while this one is added up
        add_columns(me, at, parts, slot_of, number)
        k:mov(number, shared_number(me, following))
      end)
      -- Who is done last makes the counters 0 again: each consumer of each part counts.
      k:if_(me.thread:eq(0), function()
        local before = k:atom_global_add_u32(counter, 1 << 16, { sem = "acq_rel.gpu" })
        local last = (before >> 16 & 0x7FFF):eq(shares - 1)
        for _, offset in ipairs { 0, 4 } do k:st_global_u32(counter, 0, { offset = offset, guard = last }) end
      end)
    end)
  end)
end

return module
