-- The end of a work unit of wg.attention_decode. The sums of the warps that had different keys become one. Where
-- several CTAs worked on a head, the one that finishes last adds up theirs, in the order of the keys. Each sum is
-- relative to its own maximum. Where two CTAs share a head, its end was the first unit of one of them, and it ended
-- long before the other CTA ends its last unit. That CTA looks at the counter before its last block, and then adds up
-- both parts without writing its own to memory.

local sink = require "wgrun.attention.sink"
local division = require "wgrun.builder.division"
local elements = require "wgrun.tile.elements"

local module = {}

-- the maximum of no scores: finite, so that differences are; a power of two, so that they are exact
local nothing = -2.0 ^ 100

-- The running sum of parts, each with its maximum (in units of log2), its sum of exponentials, and a row's values.
local function total_of(k, count)
  local total = { top = k:reg "f32", sum = k:reg "f32", values = k:regs("f32", count) }
  k:mov(total.top, nothing)
  k:mov(total.sum, 0.0)
  for i = 0, count - 1 do k:mov(total.values[i], 0.0) end
  --- Adds parts { top =, sum =, values = }; without values, that of a sink. It loads all before it uses the first.
  function total.add(parts)
    local top = total.top
    for _, part in ipairs(parts) do top = k:max(top, part.top) end
    local shrink = k:ex2_approx_ftz(total.top - top)
    k:mov(total.top, top)
    k:mul(total.sum, total.sum, shrink)
    for i = 0, count - 1 do k:mul(total.values[i], total.values[i], shrink) end
    for _, part in ipairs(parts) do
      local weight = k:ex2_approx_ftz(part.top - top)
      k:fma(total.sum, part.sum, weight, total.sum)
      for i = 0, part.values and count - 1 or -1 do
        k:fma(total.values[i], part.values[i], weight, total.values[i])
      end
    end
  end
  return total
end
module.total_of = total_of

-- Where row `row` of a head of K and V lies: its first element in Q and O, its element of lse, and its head.
local function place_of(k, p, at, row)
  local query = p.queries == 1 and 0 or division.divided(k, row, p.sharing)
  local head = at.head * p.sharing + (p.queries == 1 and row or row - query * p.sharing)
  local line = (at.batch * p.heads + head) * p.queries + query
  if p.layout == "bhsd" then return line * p.dim, line, head end
  return ((at.batch * p.queries + query) * p.heads + head) * p.dim, line, head
end
module.place = place_of
module.nothing = nothing

local function sync(me) me.k:bar_sync(1, { threads = me.threads }) end

-- Calls body(row, four, in_exchange) for each row and four columns from `first` on: `four` counts fours from the row's
-- first column, in_exchange from `first`.
local function each_vector(me, first, columns, body)
  local k, vectors = me.k, columns // 4
  k:loop({ from = me.thread, to = me.p.rows * vectors, step = me.threads }, function(v)
    local row = division.divided(k, v, vectors)
    local four = v - row * vectors
    body(row, first == 0 and four or four + first // 4, four)
  end)
end

-- The row's values, divided by the sum of its exponentials, and the logarithm of that; 0 where no key was seen.
local function store(me, at, row, four, total)
  local k, p, sizes = me.k, me.p, me.sizes
  local element, line, head = place_of(k, p, at, row)
  if p.sink then total.add { { top = sink.load(k, p, sizes, head), sum = 1.0 } } end
  local empty = total.sum:eq(0.0)
  local inverse = k:rcp_approx_ftz(total.sum)
  k:mov(inverse, 0.0, { guard = empty })
  local words, v = {}, total.values
  for i = 0, 1 do words[i + 1] = elements.to_output[p.dtype](k, v[2 * i] * inverse, v[2 * i + 1] * inverse) end
  k:st_global_v2_b32(k:element(sizes.O, element + (four << 2)), words)
  if not p.lse then return end
  local logarithm = (k:lg2_approx_ftz(total.sum) + total.top) * math.log(2)
  k:mov(logarithm, -math.huge, { guard = empty })
  k:st_global_f32(k:element(sizes.lse, line), logarithm, { guard = four:eq(0) })
end

-- Shows the other warps the columns from `first` on, and at first the maxima and sums.
local function share_with_warps(me, first)
  local k, p, acc, lane, group = me.k, me.p, me.acc, me.warp.lane, me.warp.column_group
  for half = 0, p.row_halves - 1 do
    local own = me.rows[half]
    local inside = own.number:lt(p.rows)
    local line = me.warp.key_group * p.rows + own.number
    if first == 0 then
      local to, sums = me.sums + (line << 3), { own.top(), own.whole_sum() }
      local one = inside & (lane & 3):eq(0)
      if group then one = one & group:eq(0) end -- all groups of columns have the same sums
      k:st_shared_v2_f32(to, sums, { guard = one })
    end
    local to = me.exchange + (line * (p.pitch * 4) + ((lane & 3) << 3))
    if group then to = to + group * (p.own_columns * 4) end
    for eight = 0, math.min(p.columns, p.own_columns) // 8 - 1 do
      local r = first // 2 + 4 * eight + 2 * half
      k:st_shared_v2_f32(to, { acc[r], acc[r + 1] }, { offset = 32 * eight, guard = inside })
    end
  end
end

local function sum_of_warps(me, row, four)
  local k, p, parts, total = me.k, me.p, {}, total_of(me.k, 4)
  for g = 0, p.key_groups - 1 do
    local two = k:ld_shared_v2_f32(me.sums + (row << 3), { offset = g * p.rows * 8 })
    local values = k:ld_shared_v4_f32(
      me.exchange + (row * (p.pitch * 4) + (four << 4)), { offset = g * p.rows * p.pitch * 4 })
    parts[g + 1] = { top = two[0], sum = two[1], values = values }
  end
  total.add(parts)
  return total
end

-- Puts the CTA's part of a head into memory; `line` is the row of its slot.
local function keep_part(me, line, four, total)
  local k, sizes = me.k, me.sizes
  k:st_global_v4_f32(k:element(sizes.partials, line * me.p.dim + (four << 2)), total.values)
  k:st_global_v2_f32(k:element(sizes.part_sums, line << 1), { total.top, total.sum }, { guard = four:eq(0) })
end

-- Begins to load a part where `there` holds; elsewhere it is one of no scores.
local function load_part(me, line, four, there)
  local k, sizes, two, values = me.k, me.sizes, me.k:regs("f32", 2), me.k:regs("f32", 4)
  for j = 0, 3 do k:mov(values[j], 0.0) end
  k:mov(two[0], nothing)
  k:mov(two[1], 0.0)
  k:ld_global_v2_f32(two, k:element(sizes.part_sums, line << 1), { guard = there })
  k:ld_global_v4_f32(values, k:element(sizes.partials, line * me.p.dim + (four << 2)), { guard = there })
  return { top = two[0], sum = two[1], values = values }
end

-- Where the guard holds, the part is another one, which is in registers.
local function replace_part(k, part, by, guard)
  for j = 0, 3 do k:mov(part.values[j], by.values[j], { guard = guard }) end
  k:mov(part.top, by.top, { guard = guard })
  k:mov(part.sum, by.sum, { guard = guard })
end

-- The sum of a head's parts. The loads of `at_once` parts are in flight together. own: the slot of a part that is in
-- registers, `mine`.
local function sum_of_parts(me, unit, row, four, at_once, own, mine)
  local k, total = me.k, total_of(me.k, 4)
  k:loop({ from = 0, to = unit.parts, step = at_once }, function(first)
    local loaded = {}
    for i = 0, at_once - 1 do
      local number = first + i
      local slot = unit.slot_of(number)
      local there, line = number:lt(unit.parts), slot * me.p.rows + row
      local is_own = own and there & slot:eq(own)
      if own then there = there & slot:ne(own) end
      loaded[i + 1] = load_part(me, line, four, there)
      if own then replace_part(k, loaded[i + 1], mine, is_own) end
    end
    total.add(loaded)
  end)
  return total
end

-- A head's counter of complete parts, which all warps learn from the leader's look at it, `number` 0 or 1 in a work
-- unit. Who finds all but its own there is the last, and makes it 0 again.
local function counter_of(me, at) return me.k:element(me.sizes.counters, at.batch * me.p.kv_heads + at.head) end
local function show(me, number, count) me.k:st_shared_u32(me.k:address(me.flags, 4 * number), count) end
local function is_last(me, number, at, parts)
  local k = me.k
  local last = k:ld_shared_u32(k:address(me.flags, 4 * number)):eq(parts - 1)
  k:st_global_u32(counter_of(me, at), 0, { guard = me.leader & last })
  return last
end

-- Adds up what the CTA's warps have, some columns at a time, and stores or keeps it. Returns whether the head's other
-- parts were complete already, which were then added.
local function finish_cta(me, unit, at)
  local k, p, last = me.k, me.p, nil
  for first = 0, p.dim - 1, p.columns do
    share_with_warps(me, first)
    if first == 0 then k:if_(me.leader, function() show(me, 0, unit.complete) end) end
    sync(me)
    if first == 0 then last = is_last(me, 0, at, unit.parts) end
    each_vector(me, first, p.columns, function(row, four, in_exchange)
      local total = sum_of_warps(me, row, in_exchange)
      k:if_(unit.whole, function() store(me, at, row, four, total) end, function()
        k:if_(last, function()
          store(me, at, row, four, sum_of_parts(me, unit, row, four, 2, unit.own, total))
        end, function()
          keep_part(me, unit.own * p.rows + row, four, total)
        end)
      end)
    end)
    sync(me) -- the exchange is free, and what the CTA keeps has been written
  end
  return last
end

-- Counts the part that the CTA has kept; the CTA that comes last adds up all.
local function finish_head(me, unit, at)
  local k = me.k
  k:if_(me.leader, function() show(me, 1, k:atom_global_add_u32(counter_of(me, at), 1, { sem = "acq_rel.gpu" })) end)
  sync(me)
  k:if_(is_last(me, 1, at, unit.parts), function()
    each_vector(me, 0, me.p.dim, function(row, four)
      store(me, at, row, four, sum_of_parts(me, unit, row, four, 8))
    end)
  end)
end

--- What the compute warps do for each work unit, besides its blocks. begin(at, count) returns the unit. look(unit, at)
--- comes before its last block. finish(unit, at) comes behind it, and all warps call it together.
--- @param me table  the warp: k, p, warp, sizes (the kernel's parameters: O, lse, partials, part_sums, counters), acc
---   (the sums of the weighted rows of V), and rows: for each half its number, top (scaled to log2), and whole_sum
--- @param buffers table  shared memory: exchange, sums, flags
function module.emit(me, buffers, work)
  local k = me.k
  me.flags, me.thread, me.threads = buffers.flags, k:special "tid.x", 32 * me.p.warps
  me.exchange, me.sums = k:address(buffers.exchange), k:address(buffers.sums)
  me.leader = me.thread:eq(0)
  local units = {}

  function units.begin(at, count)
    -- no number of parts
    local unit = { whole = at.block:eq(0) & count:eq(at.blocks), complete = k:mov(0xFFFFFFFF, { type = "u32" }) }
    unit.own, unit.parts, unit.slot_of = work.slots(at)
    unit.of_two = at.block:eq(0) & unit.parts:eq(2)
    return unit
  end

  function units.look(unit, at)
    k:if_(me.leader & unit.of_two, function()
      k:ld_global_u32(unit.complete, counter_of(me, at), { sem = "acquire.gpu" })
    end)
  end

  function units.finish(unit, at)
    local last = finish_cta(me, unit, at)
    k:if_(~(unit.whole | last), function() finish_head(me, unit, at) end)
  end
  return units
end

return module
