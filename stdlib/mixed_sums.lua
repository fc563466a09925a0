-- What a warpgroup of wg.gemm{ b_type = } does: it converts weights, multiplies them by the rows of A, and adds up the sums of
-- parts of K.

return function(_, internal)
  local divided = internal.divided

  -- A warpgroup's weights, scales and zero points of a stage, from shared memory into registers: load(stage) returns a function that
  -- gives the words of a step of 16 elements of K and the number of its group, and the list of what convert takes for each group.
  local function loader(k, p, buffers, how, mine)
    local base = k:address(buffers.weights, mine.thread << 4) + mine.block * p.weight_bytes
    local at_scales = ((mine.block << 6) + ((mine.thread >> 5) << 4) + (mine.thread >> 2 & 7)) << 1
    if p.k_parts > 1 then
      base, at_scales = base + mine.part * (p.weight_bytes // p.k_parts), at_scales + mine.part * p.part_scale_bytes
    end
    local of_rows = { k:address(buffers.b_scales, at_scales), p.zeros and k:address(buffers.b_zeros, at_scales) or nil }
    local words = k:regs("b32", p.weight_bytes // p.k_parts // 512)

    return function(stage)
      local from, groups = base + stage * (p.blocks * p.weight_bytes), {}
      for i = 0, #words - 1, 4 do k:ld_shared_v4_b32(words:slice(i, 4), from, { offset = 512 * i }) end
      for group = 0, p.groups_of_part - 1 do
        groups[group] = {}
        for half = 0, 1 do -- the thread's two rows
          local values = {}
          for i, at in ipairs(of_rows) do
            values[i] = k:reg "b16"
            k:ld_shared_b16(values[i], at + stage * p.scale_bytes, { offset = group * p.m * 2 + 16 * half })
          end
          groups[group][half] = how.prepare(half, values[1], values[2])
        end
      end
      return groups, function(step) return words:slice(step * how.words, how.words), groups[16 * step // p.group] or groups[0] end
    end
  end

  --- The products of a CTA's part of K, into `acc`, an array of n / 2 registers. given: ring, buffers, work, mine (block: which 64 rows
  --- of the tile; part: which half of a block of K; thread: in the warpgroup).
  ---
  --- The tensor cores multiply some steps of K while the next ones are converted, in another set of registers. With few rows, products
  --- of a group of K have sums of their own, in `products`, and are scaled in f32 when they are complete; with many there are no registers
  --- for that, and each weight is scaled.
  function internal.mixed_sums(k, p, acc, given)
    local ring, buffers, work, mine = given.ring, given.buffers, given.work, given.mine
    local how, lane = internal.mixed_convert(k, p), mine.thread & 31
    local load = loader(k, p, buffers, how, mine)
    local products, scales = p.scales_sums and k:regs("f32", p.n // 2) or acc, p.scales_sums and k:regs("f32", 2)
    local steps, sets = p.steps, {}
    for set = 0, 1 do sets[set] = k:regs("b32", 4 * steps) end
    local form = { n = p.n, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_b = 0 }
    local function ahead_of(step) return p.a:descriptor(0, step) - p.a:descriptor(0) end
    local descriptor = k:descriptor(buffers.a, { offset = p.k_parts > 1 and mine.part * (ahead_of(p.part_k // 16) << 4) or nil })

    local function add_products()
      for r = 0, #acc - 1 do k:fma(acc[r], products[r], scales[r // 2 % 2], acc[r]) end
    end
    for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end
    if p.scales_sums then
      for r = 0, #acc - 1 do k:mov(products[r], 0.0) end
      for half = 0, 1 do k:mov(scales[half], 0.0) end
    end

    -- In registers that the assembler cannot compute anew each time, from the CTA's place in its cluster.
    local full, empty = k:reg "u32", k:reg "u32"
    k:shfl_sync_idx_b32(full, k:address(ring.full), 0, 31)
    k:shfl_sync_idx_b32(empty, k:address(ring.empty), 0, 31)
    local leads = lane:eq(0)

    -- A block of K.
    local function turn(stage, phase, releases)
      k:mbarrier_wait(full + 8 * stage, phase)
      local groups, of_step = load(stage)
      local b = stage == 0 and descriptor or k:add(descriptor, stage * p.a.bytes >> 4)
      -- The stage before: its products are complete and its weights have been read, in the turn before, so that the fence need not wait
      -- for them. The copy that overwrites it may follow, once one lane has said so for its warp.
      local function release()
        k:fence_proxy_async { space = "shared::cta" }
        k:bar_warp_sync(0xFFFFFFFF)
        k:mbarrier_arrive(empty + 8 * ((stage - 1) % p.stages), { guard = releases })
      end
      for first = 0, p.part_k // 16 - 1, steps do
        local operands = sets[first // steps % 2]
        for i = 0, steps - 1 do
          local made = how.convert(of_step(first + i))
          for r = 0, 3 do k:mov(operands[4 * i + r], made[r]) end
        end
        local begins = p.scales_sums and first == 0 -- new sums
        if begins then
          k:wgmma_wait_group(0)
          release()
          add_products()
          for half = 0, 1 do k:mov(scales[half], groups[0][half].factor) end
        end
        k:wgmma_fence()
        for i = 0, steps - 1 do
          local ahead = ahead_of(first + i)
          form.scale_d = begins and i == 0 and 0 or 1
          k:wgmma_mma_async(products, operands:slice(4 * i, 4), ahead == 0 and b or k:add(b, ahead), form)
        end
        k:wgmma_commit_group()
        if not begins then
          k:wgmma_wait_group(1) -- the other set is free; the first time, so is the stage before
          if first == 0 then release() end
        end
      end
    end

    -- Rounds of the ring are unrolled, so that what depends on the stage is a constant of the instructions.
    local blocks, place = divided(k, work.to - work.from, p.block_k), given.place
    if place then
      -- From the stage behind that of the piece before to the one before `last`, counted from the beginning of a round.
      local last = k:mov(place.stage + blocks, { type = "u32" })
      k:repeat_(function()
        k:if_(place.stage:eq(0), function() turn(0, place.phase, leads & place.begun:ne(0)) end)
        for stage = 1, p.stages - 1 do
          k:if_(place.stage:le(stage) & last:gt(stage), function() turn(stage, place.phase, leads) end)
        end
        local wrapped = last:ge(p.stages)
        k:xor(place.phase, place.phase, 1, { guard = wrapped })
        k:sub(last, last, p.stages, { guard = wrapped })
        k:mov(place.stage, k:selp_b32(0, last, wrapped, { type = "u32" }))
        k:mov(place.begun, 1)
        return last:gt(place.stage)
      end)
    else
      local phase, left = k:mov(0, { type = "u32" }), k:mov(blocks, { type = "u32" })
      k:while_(function() return left:gt(0) end, function()
        turn(0, phase, leads & left:lt(blocks))
        for stage = 1, p.stages - 1 do
          k:if_(left:gt(stage), function() turn(stage, phase, leads) end)
        end
        k:sub(left, left, k:min(left, p.stages))
        k:xor(phase, phase, 1)
      end)
    end
    k:wgmma_wait_group(0)
    if p.scales_sums then add_products() end
    if how.left ~= 1.0 then
      for r = 0, #acc - 1 do k:mul(acc[r], acc[r], how.left) end
    end
  end

  -- Calls visit(four registers of acc, their place in a block of sums in bytes) for all of acc: threads side by side.
  local function each_four(acc, visit)
    for r = 0, #acc - 1, 4 do visit(acc:slice(r, 4), 128 * 4 * r) end
  end

  --- Adds up the sums of parts of K: of the cluster's CTAs, number b % splits puts block b's together, in its warpgroup with the
  --- first part. The others send theirs, and it adds them in their order. Calls store() in warpgroups that then hold the sums of all
  --- parts. given: as for internal.mixed_sums.
  function internal.mixed_exchange(k, p, acc, given, store)
    if p.parts == 1 then return store() end
    local buffers, work, mine = given.buffers, given.work, given.mine
    local owner, barrier = internal.remainder(k, mine.block, p.splits), k:address(buffers.arrived)
    local round, free = given.place and given.place.round or 0, buffers.free and k:address(buffers.free)
    local sums = k:address(buffers.exchange, mine.thread << 4)
    if p.owned > 1 then sums = sums + divided(k, mine.block, p.splits) * p.exchange_bytes end
    local first, own = owner * p.k_parts, work.part * p.k_parts + mine.part
    k:if_(own:eq(first), function()
      k:mbarrier_wait(barrier, round)
      for sender = 0, p.parts - 2 do
        each_four(acc, function(four, place)
          local theirs = k:regs("f32", 4)
          k:ld_shared_v4_f32(theirs, sums, { offset = sender * p.sum_bytes + place })
          for i = 0, 3 do k:add(four[i], four[i], theirs[i]) end
        end)
      end
      if free then k:mbarrier_arrive(free) end
      store()
    end, function()
      if p.splits == 1 then -- in the same CTA: an H200 has no st.async in a launch without clusters
        local slot = p.k_parts > 2 and sums + (own - 1) * p.sum_bytes or sums
        if free then k:mbarrier_wait(free, round ~ 1) end
        each_four(acc, function(four, place) k:st_shared_v4_f32(slot, four, { offset = place }) end)
        k:mbarrier_arrive(barrier)
        return
      end
      local slot = k:selp_b32(own - 1, own, own:gt(first), { type = "u32" })
      local to, counted = k:mapa(sums + slot * p.sum_bytes, owner), k:mapa(barrier, owner)
      each_four(acc, function(four, place) k:st_async_v4_f32(place == 0 and to or to + place, four, counted) end)
    end)
  end
end
