-- The end of a piece of wg.attention_decode: the sums of the warps that had different keys become one, and where several CTAs worked
-- on a head, the one that finishes last adds up theirs, in the order of the keys. Each sum is relative to its own maximum. Where
-- two CTAs share a head, its end was the first piece of one, long ago, when the other comes to the end of its last piece: having looked
-- at the counter before its last block, the other adds up both without putting its own part into memory.

return function(internal)
  local nothing = -2.0 ^ 100 -- the maximum of no scores: finite, so that differences are; a power of two, so that they are exact

  -- The running sum of parts, each with its maximum (in units of log2), its sum of exponentials, and a row's values.
  local function total_of(k, count)
    local total = { top = k:reg "f32", sum = k:reg "f32", values = k:regs("f32", count) }
    k:mov(total.top, nothing)
    k:mov(total.sum, 0.0)
    for i = 0, count - 1 do k:mov(total.values[i], 0.0) end
    --- Adds parts { top =, sum =, values = }, of which all are loaded before the first is used.
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
        for i = 0, count - 1 do k:fma(total.values[i], part.values[i], weight, total.values[i]) end
      end
    end
    return total
  end

  -- Where row `row` of a head of K and V lies: its first element in Q and O, and its element of lse.
  local function place_of(k, p, at, row)
    local query = p.queries == 1 and 0 or internal.divided(k, row, p.sharing)
    local head = at.head * p.sharing + (p.queries == 1 and row or row - query * p.sharing)
    local line = (at.batch * p.heads + head) * p.queries + query
    if p.layout == "bhsd" then return line * p.dim, line end
    return ((at.batch * p.queries + query) * p.heads + head) * p.dim, line
  end
  internal.attention_decode_place = place_of
  internal.attention_decode_nothing = nothing

  --- What the compute warps do for each piece, besides its blocks: begin(at, count) returns the piece; look(piece, at) comes before its last
  --- block, and finish(piece, at) behind it, which all warps call together.
  --- @param rows table  for each half of a warp's rows: its number, top (scaled to log2), and this thread's part of its sum
  --- @param acc regs  the sums of the weighted rows of V
  --- @param buffers table  shared memory: exchange, sums, flags
  --- @param sizes table  the kernel's parameters: O, lse, partials, part_sums, counters
  function internal.attention_decode_finish(k, p, sizes, buffers, work, acc, rows, warp)
    local thread, lane, threads = k:special "tid.x", warp.lane, 32 * p.warps
    local exchange, sums = k:address(buffers.exchange), k:address(buffers.sums)
    local function sync() k:bar_sync(1, { threads = threads }) end

    -- Calls body(row, four) for each row and four columns from `first` on; `four` counts fours from the row's first column.
    local function each_vector(first, columns, body)
      local vectors = columns // 4
      k:loop({ from = thread, to = p.rows * vectors, step = threads }, function(v)
        local row = internal.divided(k, v, vectors)
        local four = v - row * vectors
        body(row, first == 0 and four or four + first // 4, four)
      end)
    end

    -- The row's values, divided by the sum of its exponentials, and the logarithm of that; 0 where no key was seen.
    local function store(at, row, four, total)
      local element, line = place_of(k, p, at, row)
      local empty = total.sum:eq(0.0)
      local inverse = k:rcp_approx_ftz(total.sum)
      k:mov(inverse, 0.0, { guard = empty })
      local words, v = {}, total.values
      for i = 0, 1 do words[i + 1] = internal.to_output[p.dtype](k, v[2 * i] * inverse, v[2 * i + 1] * inverse) end
      k:st_global_v2_b32(k:element(sizes.O, element + (four << 2)), words)
      if not p.lse then return end
      local logarithm = (k:lg2_approx_ftz(total.sum) + total.top) * math.log(2)
      k:mov(logarithm, -math.huge, { guard = empty })
      k:st_global_f32(k:element(sizes.lse, line), logarithm, { guard = four:eq(0) })
    end

    -- Shows the other warps the columns from `first` on, and at first the maxima and sums.
    local function share_with_warps(first)
      for half = 0, p.halves - 1 do
        local own = rows[half]
        local inside = own.number:lt(p.rows)
        local line = warp.key_group * p.rows + own.number
        if first == 0 then
          k:st_shared_v2_f32(sums + (line << 3), { own.top(), own.whole_sum() }, { guard = inside & (lane & 3):eq(0) })
        end
        local to = exchange + (line * (p.pitch * 4) + ((lane & 3) << 3))
        for eight = 0, p.columns // 8 - 1 do
          local r = first // 2 + 4 * eight + 2 * half
          k:st_shared_v2_f32(to, { acc[r], acc[r + 1] }, { offset = 32 * eight, guard = inside })
        end
      end
    end

    local function sum_of_warps(row, four)
      local parts, total = {}, total_of(k, 4)
      for g = 0, p.key_groups - 1 do
        local two = k:ld_shared_v2_f32(sums + (row << 3), { offset = g * p.rows * 8 })
        local values = k:ld_shared_v4_f32(exchange + (row * (p.pitch * 4) + (four << 4)), { offset = g * p.rows * p.pitch * 4 })
        parts[g + 1] = { top = two[0], sum = two[1], values = values }
      end
      total.add(parts)
      return total
    end

    local function keep(slot, row, four, total)
      local line = slot * p.rows + row
      k:st_global_v4_f32(k:element(sizes.partials, line * p.dim + (four << 2)), total.values)
      k:st_global_v2_f32(k:element(sizes.part_sums, line << 1), { total.top, total.sum }, { guard = four:eq(0) })
    end

    -- A head's counter of complete parts, which all warps learn from the leader's look at it, `number` 0 or 1 in a piece. Who finds
    -- all but its own there is the last, and makes it 0 again.
    local leader = thread:eq(0)
    local function counter_of(at) return k:element(sizes.counters, at.batch * p.kv_heads + at.head) end
    local function show(number, count) k:st_shared_u32(k:address(buffers.flags, 4 * number), count) end
    local function is_last(number, at, parts)
      local last = k:ld_shared_u32(k:address(buffers.flags, 4 * number)):eq(parts - 1)
      k:st_global_u32(counter_of(at), 0, { guard = leader & last })
      return last
    end

    -- own: the slot of a part that is in registers, `mine`.
    local at_once = 4 -- parts whose loads are under way together
    local function sum_of_parts(parts, slot_of, row, four, own, mine)
      local total = total_of(k, 4)
      k:loop({ from = 0, to = parts, step = at_once }, function(first)
        local loaded = {}
        for i = 0, at_once - 1 do
          local part = first + i
          local slot = slot_of(part)
          local here, line = part:lt(parts), slot * p.rows + row
          local is_own = own and here & slot:eq(own)
          if own then here = here & slot:ne(own) end
          local two, values = k:regs("f32", 2), k:regs("f32", 4)
          for j = 0, 3 do k:mov(values[j], 0.0) end
          k:mov(two[0], nothing)
          k:mov(two[1], 0.0)
          k:ld_global_v2_f32(two, k:element(sizes.part_sums, line << 1), { guard = here })
          k:ld_global_v4_f32(values, k:element(sizes.partials, line * p.dim + (four << 2)), { guard = here })
          if own then
            for j = 0, 3 do k:mov(values[j], mine.values[j], { guard = is_own }) end
            k:mov(two[0], mine.top, { guard = is_own })
            k:mov(two[1], mine.sum, { guard = is_own })
          end
          loaded[i + 1] = { top = two[0], sum = two[1], values = values }
        end
        total.add(loaded)
      end)
      return total
    end

    local function begin(at, count)
      local piece = { whole = at.block:eq(0) & count:eq(at.blocks), complete = k:mov(0xFFFFFFFF, { type = "u32" }) } -- no number of parts
      piece.own, piece.parts, piece.slot_of = work.slots(at)
      piece.of_two = at.block:eq(0) & piece.parts:eq(2)
      return piece
    end

    local function look(piece, at)
      k:if_(leader & piece.of_two, function() k:ld_global_u32(piece.complete, counter_of(at), { sem = "acquire.gpu" }) end)
    end

    local function finish(piece, at)
      local whole, own, parts, slot_of = piece.whole, piece.own, piece.parts, piece.slot_of
      local last
      for first = 0, p.dim - 1, p.columns do
        share_with_warps(first)
        if first == 0 then k:if_(leader, function() show(0, piece.complete) end) end
        sync()
        if first == 0 then last = is_last(0, at, parts) end
        each_vector(first, p.columns, function(row, four, in_exchange)
          local total = sum_of_warps(row, in_exchange)
          k:if_(whole, function() store(at, row, four, total) end, function()
            k:if_(last, function() store(at, row, four, sum_of_parts(parts, slot_of, row, four, own, total)) end, function() keep(own, row, four, total) end)
          end)
        end)
        sync() -- the exchange is free, and what the CTA keeps has been written
      end
      k:if_(~(whole | last), function()
        k:if_(leader, function() show(1, k:atom_global_add_u32(counter_of(at), 1, { sem = "acq_rel.gpu" })) end)
        sync()
        k:if_(is_last(1, at, parts), function()
          each_vector(0, p.dim, function(row, four) store(at, row, four, sum_of_parts(parts, slot_of, row, four)) end)
        end)
      end)
    end
    return { begin = begin, look = look, finish = finish }
  end
end
