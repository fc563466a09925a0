-- The warp that copies for wg.gemm{ b_type = }: weights, their scales and zero points, and A, to the stages of a ring.
--
-- One thread copies, but all lanes go round, so that what the copies need lives in uniform registers. Each block of K comes in its
-- order, for a copy waits for those before it. At the start some weights may come ahead of A: those that arrive anyway until A
-- is there, since more would only keep A waiting. Some more are brought to the L2 cache by threads that have nothing to do yet, whose
-- requests do not stand before those of copies.

return function(_, internal)
  local divided = internal.divided

  --- The copies of a CTA's part of K, in two steps: begin() before the CTA's, or cluster's, warps have met, finish() after it. The warps
  --- that multiply may call ask() at the start.
  --- given: maps, buffers, sizes, work (row, column, from, to), and
  --- few: whether A has so few rows that boxes of A_few hold them, nil where there is no such map.
  function internal.mixed_copies(k, p, ring, given)
    local maps, buffers, sizes, work = given.maps, given.buffers, given.sizes, given.work
    local cursor, elected, next_k = ring:cursor(), k:elect_sync(), k:mov(work.from, { type = "u32" })
    local weights, a = k:address(buffers.weights), k:address(buffers.a)
    local once = k:createpolicy_fractional_L2_evict_first(1.0) -- each weight is read by one CTA
    local scales = { { map = maps.b_scales, at = k:address(buffers.b_scales) } }
    if p.zeros then scales[2] = { map = maps.b_zeros, at = k:address(buffers.b_zeros) } end
    local few, a_bytes = given.few, p.a.bytes
    if few then a_bytes = k:selp_b32(p.few * p.block_k * 2, a_bytes, few, { type = "u32" }) end
    local bytes = a_bytes + (p.blocks * p.weight_bytes + #scales * p.scale_bytes)

    -- Where the weights of 64 rows begin. Where N ends within the tile, the last ones come again.
    local padded_k = divided(k, sizes.K + (internal.packed_k - 1), internal.packed_k) * internal.packed_k
    local bytes_of_k, last, from_of = 64 * p.bits // 8, (sizes.N + 63 >> 6) - 1, {}
    local function start_of(i, tensor) return k:mad_wide_u32(k:min((work.row >> 6) + i, last) * padded_k, bytes_of_k, tensor) end
    for i = 0, p.blocks - 1 do from_of[i] = k:mov(start_of(i, sizes.weights), { type = "u64" }) end

    local function copy_weights()
      local barrier = ring:expect(cursor, bytes)
      local to = weights + cursor.stage * (p.blocks * p.weight_bytes)
      for i = 0, p.blocks - 1 do
        local from = k:mad_wide_u32(next_k, bytes_of_k, from_of[i])
        k:cp_async_bulk(i == 0 and to or to + i * p.weight_bytes, from, p.weight_bytes, barrier, { policy = once })
      end
    end

    -- A box of which many rows lie outside comes slowly. The rows of a panel lie side by side, however many are copied.
    local function copy_a(to, barrier)
      local function boxes() k:load_tile { tile = p.a, map = maps.A, to = to, mn = work.column, k = next_k, barrier = barrier } end
      if not few then return boxes() end
      k:if_(few, function()
        for column = 0, p.block_k - 1, 64 do
          local panel, from = column == 0 and to or to + p.a:offset(0, column), column == 0 and next_k or next_k + column
          k:cp_async_bulk_tensor_2d(panel, maps.A_few, { from, work.column }, barrier)
        end
      end, boxes)
    end

    local function copy_others()
      local stage, barrier = cursor.stage, ring:full_barrier(cursor)
      for _, s in ipairs(scales) do
        for part = 0, p.scale_copies - 1 do
          local group = divided(k, part == 0 and next_k or next_k + part * p.part_k, p.group)
          k:cp_async_bulk_tensor_2d(s.at + stage * p.scale_bytes + part * p.part_scale_bytes, s.map, { work.row, group }, barrier)
        end
      end
      copy_a(a + stage * p.a.bytes, barrier)
    end

    -- The first weights of the product behind this one: what memory can bring while this one ends.
    local function ask_for_next()
      local size = k:min(work.to - work.from, p.told * p.block_k) * bytes_of_k
      for i = 0, p.blocks - 1 do k:cp_async_bulk_prefetch(k:mad_wide_u32(work.from, bytes_of_k, start_of(i, sizes.next)), size) end
    end

    local function blocks_up_to(to, acquire, copy)
      k:while_(function() return next_k:lt(to) end, function()
        if acquire then ring:acquire(cursor) end
        k:if_(elected, copy)
        ring:advance(cursor)
        k:add(next_k, next_k, p.block_k)
      end)
    end

    local ahead = k:min(work.to, work.from + p.ahead * p.block_k)
    -- Each thread asks for a line of 128 bytes at a time.
    local function ask()
      local mine = k:special "tid.x" << 7
      local size = k:min(work.to - ahead, p.asked * p.block_k) * bytes_of_k
      for i = 0, p.blocks - 1 do
        local lines = k:add(k:mad_wide_u32(ahead, bytes_of_k, from_of[i]), k:cvt_u64_u32(mine))
        for offset = 0, p.asked * p.weight_bytes - 1, 128 * 128 * p.consumers do
          k:prefetch_global_L2(lines, { offset = offset, guard = (mine + offset):lt(size) })
        end
      end
    end

    return {
      ask = ask,
      begin = function()
        if p.constant then return blocks_up_to(ahead, false, copy_weights) end
      end,
      finish = function()
        k:griddepcontrol_wait()
        if p.constant then
          k:mov(next_k, work.from)
          k:mov(cursor.stage, 0)
          k:mov(cursor.phase, 0)
          blocks_up_to(ahead, false, copy_others)
        end
        work.each(function()
          blocks_up_to(work.to, true, function()
            copy_weights()
            copy_others()
          end)
        end, function()
          k:mov(next_k, work.from)
          for i = 0, p.blocks - 1 do k:mov(from_of[i], start_of(i, sizes.weights)) end
        end)
        if p.told > 0 then
          if p.stream then work.first() end
          k:if_(elected, ask_for_next)
        end
      end,
    }
  end
end
