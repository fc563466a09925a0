-- The kernel of wg.gemm{ b_type = }: weights of 4 or 8 bits become 16-bit operands in registers.
--
-- The roles of A and B are exchanged: wgmma's A are 64 rows of weights, in registers, and its columns are the rows of A, in
-- shared memory, of which there may be few. A CTA has a tile of 128 rows of weights and all rows of A, or 256 of them, and a
-- part of K; the CTAs of a cluster have the other parts. One thread keeps a ring of stages full; two warpgroups convert the
-- weights of a step while the tensor cores multiply those of the step before. At the end each CTA sends its sums for
-- other CTAs' rows to them, straight from registers to their shared memory (st.async, PTX ISA 9.7.9.12).

return function(wg, internal)
  -- value / by, a number, as a shift where it can be one.
  local function divided(k, value, by)
    local shift = by > 0 and math.tointeger(math.log(by, 2))
    if not shift or 1 << shift ~= by then return k:div(value, by) end
    return shift == 0 and value or value >> shift
  end

  -- What a CTA works on: the first row of weights, the first row of A, and its part of K. The grid is parts x tiles of A x tiles of
  -- weights.
  local function work_of(k, p, sizes)
    local part = k:special "ctaid.x"
    local blocks = divided(k, sizes.K + (p.block_k - 1), p.block_k)
    local function edge(number) return divided(k, number * blocks, p.splits) * p.block_k end
    return {
      part = part, row = k:special "ctaid.z" * p.m, column = k:special "ctaid.y" * p.n,
      from = p.splits > 1 and edge(part) or k:mov(0, { type = "u32" }), to = edge(p.splits > 1 and part + 1 or 1),
    }
  end

  -- A warp that copies: copy(first_k, stage, barrier) for blocks of K, after `bytes` are announced, in one thread. The other
  -- lanes go round with it, so that all that the copies need lives in uniform registers. Returns a function that continues
  -- with the blocks up to an element of K.
  local function copier(k, p, ring, work, bytes, copy)
    local cursor, elected, next_k = ring:cursor(), k:elect_sync(), k:mov(work.from, { type = "u32" })
    return function(to)
      k:while_(function() return next_k:lt(to) end, function()
        ring:acquire(cursor)
        k:if_(elected, function() copy(next_k, cursor.stage, ring:expect(cursor, bytes)) end)
        ring:advance(cursor)
        k:add(next_k, next_k, p.block_k)
      end)
    end
  end

  -- The copies of weights, with their scales and zero points.
  local function weight_copier(k, p, ring, maps, buffers, sizes, work)
    local weights = k:address(buffers.weights)
    local once = k:createpolicy_fractional_L2_evict_first(1.0) -- each weight is read by one CTA
    local scales = { { map = maps.b_scales, at = k:address(buffers.b_scales) } }
    if p.zeros then scales[2] = { map = maps.b_zeros, at = k:address(buffers.b_zeros) } end

    -- Where the weights of 64 rows begin. Where N ends within the tile, the last ones come again.
    local padded_k = divided(k, sizes.K + (internal.packed_k - 1), internal.packed_k) * internal.packed_k
    local bytes_of_k, last, from_of = 64 * p.bits // 8, (sizes.N + 63 >> 6) - 1, {}
    for i = 0, p.blocks - 1 do
      from_of[i] = k:mad_wide_u32(k:min((work.row >> 6) + i, last) * padded_k, bytes_of_k, sizes.weights)
    end
    return copier(k, p, ring, work, p.blocks * p.weight_bytes + #scales * p.scale_bytes, function(first_k, stage, barrier)
      local to = weights + stage * (p.blocks * p.weight_bytes)
      for i = 0, p.blocks - 1 do
        local from = k:mad_wide_u32(first_k, bytes_of_k, from_of[i])
        k:cp_async_bulk(i == 0 and to or to + i * p.weight_bytes, from, p.weight_bytes, barrier, { policy = once })
      end
      for _, s in ipairs(scales) do
        for part = 0, p.k_parts - 1 do
          local group = divided(k, part == 0 and first_k or first_k + part * p.part_k, p.group)
          k:cp_async_bulk_tensor_2d(s.at + stage * p.scale_bytes + part * p.part_scale_bytes, s.map, { work.row, group }, barrier)
        end
      end
    end)
  end

  -- The copies of A.
  local function a_copier(k, p, ring, maps, buffers, work)
    local a = k:address(buffers.a)
    return copier(k, p, ring, work, p.a.bytes, function(first_k, stage, barrier)
      k:load_tile { tile = p.a, map = maps.A, to = a + stage * p.a.bytes, mn = work.column, k = first_k, barrier = barrier }
    end)
  end

  -- A consumer's weights, scales and zero points of a stage, from shared memory into registers: load(stage) gives the words
  -- of each step of 16 elements of K, and what its two rows are scaled by.
  local function loader(k, p, buffers, how, mine)
    local base = k:address(buffers.weights, mine.thread << 4) + mine.block * p.weight_bytes
    local at_scales = (((mine.block << 6) + ((mine.thread >> 5) << 4) + (mine.thread >> 2 & 7)) << 1)
    if p.k_parts > 1 then
      base, at_scales = base + mine.part * (p.weight_bytes // p.k_parts), at_scales + mine.part * p.part_scale_bytes
    end
    local of_rows = { k:address(buffers.b_scales, at_scales), p.zeros and k:address(buffers.b_zeros, at_scales) }
    local words = k:regs("b32", p.weight_bytes // p.k_parts // 512)

    local function twice(at, offset)
      local half = k:reg "b16"
      k:ld_shared_b16(half, at, { offset = offset })
      return k:pack { half, half }
    end
    return function(stage)
      local from = base + stage * (p.blocks * p.weight_bytes)
      for i = 0, #words - 1, 4 do k:ld_shared_v4_b32(words:slice(i, 4), from, { offset = 512 * i }) end
      local rows = {} -- of each group in the block
      for group = 0, p.groups_of_part - 1 do
        rows[group] = {}
        for half = 0, 1 do
          local values = {}
          for i, at in ipairs(of_rows) do
            if at then values[i] = twice(at + stage * p.scale_bytes, group * p.m * 2 + 16 * half) end
          end
          rows[group][half] = how.prepare(values[1], values[2])
        end
      end
      return function(step)
        return words:slice(step * how.words, how.words), rows[16 * step // p.group] or rows[0]
      end
    end
  end

  -- The products of a CTA's part of K: sums in `acc`, an array of n / 2 registers.
  local function sum_products(k, p, ring, buffers, work, acc, mine)
    local how, lane, cursor = internal.mixed_convert(k, p), mine.thread & 31, ring:cursor()
    local load = loader(k, p, buffers, how, mine)
    local form = { n = p.n, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_b = 0, scale_d = 1 }
    local previous = { stage = k:reg "u32" }
    k:mov(previous.stage, 0)
    -- Two sets of operands, for two steps of K each: one is converted to while the tensor cores read the other. Small ones, so that
    -- the arithmetic of conversions, which takes several pipes in turn, spreads.
    local steps, sets = 2, {}
    for set = 0, 1 do sets[set] = k:regs("b32", 4 * steps) end
    local function ahead_of(step) return p.a:descriptor(0, step) - p.a:descriptor(0) end
    local descriptor = k:descriptor(buffers.a, { offset = p.k_parts > 1 and mine.part * (ahead_of(p.part_k // 16) << 4) or nil })
    for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end

    k:loop({ from = work.from, to = work.to, step = p.block_k }, function(first_k)
      ring:wait(cursor)
      local of_step = load(cursor.stage)
      -- The weights have been read: the copy that overwrites them may follow, once one lane has said so for its warp.
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_warp_sync(0xFFFFFFFF)
      local b = k:mad_wide_u32(cursor.stage, p.a.bytes >> 4, descriptor)
      for first = 0, p.part_k // 16 - 1, steps do
        local operands = sets[first // steps % 2]
        for i = 0, steps - 1 do
          local made = how.convert(of_step(first + i))
          for r = 0, 3 do k:mov(operands[4 * i + r], made[r]) end
        end
        k:wgmma_fence()
        for i = 0, steps - 1 do
          local ahead = ahead_of(first + i)
          k:wgmma_mma_async(acc, operands:slice(4 * i, 4), ahead == 0 and b or k:add(b, ahead), form)
        end
        k:wgmma_commit_group()
        k:wgmma_wait_group(1) -- the other set is free; the first time, so is the stage before
        if first == 0 then ring:release(previous, { lane = lane, guard = first_k:gt(work.from) }) end
      end
      k:mov(previous.stage, cursor.stage)
      ring:advance(cursor)
    end)
    k:wgmma_wait_group(0)
    if how.left ~= 1.0 then
      for r = 0, #acc - 1 do k:mul(acc[r], acc[r], how.left) end
    end
  end

  -- Calls visit(four registers of acc, their place in a block of sums in bytes) for all of acc: threads side by side.
  local function each_four(acc, visit)
    for r = 0, #acc - 1, 4 do visit(acc:slice(r, 4), 128 * 4 * r) end
  end

  -- Sums of parts of K: of the cluster's CTAs, number b % splits puts block b's together, in its warpgroup with the first part.
  -- The others send theirs, and it adds them up in their order. Calls store() in warpgroups that then hold the sums of all parts.
  local function exchange(k, p, buffers, work, acc, mine, store)
    local owner, barrier = mine.block & (p.splits - 1), k:address(buffers.arrived)
    local sums = k:address(buffers.exchange, mine.thread << 4)
    if p.owned > 1 then sums = sums + divided(k, mine.block, p.splits) * p.exchange_bytes end
    local first, own = owner * p.k_parts, work.part * p.k_parts + mine.part
    k:if_(own:eq(first), function()
      k:mbarrier_wait(barrier, 0)
      for sender = 0, p.parts - 2 do
        each_four(acc, function(four, place)
          local theirs = k:regs("f32", 4)
          k:ld_shared_v4_f32(theirs, sums, { offset = sender * p.sum_bytes + place })
          for i = 0, 3 do k:add(four[i], four[i], theirs[i]) end
        end)
      end
      store()
    end, function()
      if p.splits == 1 then -- in the same CTA; an H200 has no st.async in a launch without clusters
        each_four(acc, function(four, place) k:st_shared_v4_f32(sums, four, { offset = place }) end)
        k:mbarrier_arrive(barrier)
        return
      end
      local slot = k:selp_b32(own - 1, own, own:gt(first), { type = "u32" })
      local to, counted = k:mapa(sums + slot * p.sum_bytes, owner), k:mapa(barrier, owner)
      each_four(acc, function(four, place) k:st_async_v4_f32(place == 0 and to or to + place, four, counted) end)
    end)
  end

  -- A consumer: warpgroup `number` of those that multiply.
  local function consume(k, p, ring, maps, buffers, sizes, work, number)
    local mine = { block = divided(k, number, p.k_parts), part = number & (p.k_parts - 1), thread = k:special "tid.x" & 127 }
    local acc = k:regs("f32", p.n // 2)
    local exchanged = setmetatable({ M = sizes.N, N = sizes.M }, { __index = sizes }) -- as the accumulators have them
    local store, finish = k:epilogue(internal.extended({
      panel = p.panel, map = maps.D, buffer = buffers.exchange, offset = divided(k, mine.block, p.splits) * p.exchange_bytes + p.panel_offset,
      barrier = number + 1,
    }, internal.epilogue_of_kernel(k, p, { maps = maps, sizes = exchanged, stages = buffers, mine = mine.block, factors = function() end })))
    sum_products(k, p, ring, buffers, work, acc, mine)
    local function store_all()
      store(acc, work.row + (mine.block << 6), work.column)
      finish()
    end
    if p.parts == 1 then return store_all() end
    exchange(k, p, buffers, work, acc, mine, store_all)
  end

  -- The kernel's parameters, in the order of a launch's arguments.
  local function parameters(k, p)
    local maps = { A = k:tensor_map("A", { tile = p.a, constant = true }) }
    local sizes = { weights = k:param("B", "const u32*") }
    maps.D = k:tensor_map("D", p.panel.box)
    for _, name in ipairs { "M", "N", "K" } do sizes[name] = k:param(name, "u32") end
    local box = { dtype = p.dtype, box = { p.m, p.groups_of_part }, constant = true }
    maps.b_scales = k:tensor_map("b_scales", box)
    if p.zeros then maps.b_zeros = k:tensor_map("b_zeros", box) end
    internal.epilogue_parameters(k, p, sizes, maps)
    return maps, sizes
  end

  -- What one thread does before all others begin.
  local function begin(k, p, ring, maps, buffers, work)
    for _, name in ipairs { "A", "b_scales", "b_zeros", "C", "D" } do
      if maps[name] then k:prefetch_tensormap(maps[name]) end
    end
    if buffers.c then
      for c = 0, p.blocks - 1 do k:mbarrier_init(k:address(buffers.c, 8 * c), 1) end
    end
    local arrived = buffers.arrived and k:address(buffers.arrived)
    if arrived then k:mbarrier_init(arrived, p.splits == 1 and 128 * p.blocks or 1) end
    ring:init()
    if p.splits > 1 then
      -- CTA r puts the blocks r, r + splits, ... together.
      local owned = divided(k, p.blocks + p.splits - 1 - work.part, p.splits)
      k:mbarrier_arrive_expect_tx(arrived, owned * ((p.parts - 1) * p.sum_bytes))
    end
  end

  --- The kernel of a plan (of internal.mixed_plan).
  function internal.mixed_kernel(p)
    local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.splits } }, function(k)
      local maps, sizes = parameters(k, p)
      local buffers = {
        a = k:shared { tile = p.a, count = p.stages, name = "A" },
        exchange = k:shared { bytes = p.owned * p.exchange_bytes, align = 1024, name = "D" },
        weights = k:shared { bytes = p.stages * p.blocks * p.weight_bytes, align = 128, name = "B" },
        b_scales = k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = "b_scales" },
        b_zeros = p.zeros and k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = "b_zeros" } or nil,
        arrived = p.parts > 1 and k:shared { bytes = 8, align = 8, name = "sums" } or nil,
        c = (p.epilogue.beta or p.epilogue.residual) and k:shared { bytes = 8 * p.blocks, align = 8, name = "C" } or nil,
      }
      local ring = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers, producers = 2 }
      local warp, work = k:reg "u32", work_of(k, p, sizes)
      k:shfl_sync_idx_b32(warp, k:special "tid.x" >> 5, 0, 31) -- the same in all lanes
      local is_first, copy_weights = warp:eq(4 * p.consumers), weight_copier(k, p, ring, maps, buffers, sizes, work)
      k:griddepcontrol_launch_dependents()
      -- Weights come as soon as there are mbarriers that count them, before the other warps, and CTAs, are ready.
      k:if_(is_first, function()
        k:if_(k:elect_sync(), function() begin(k, p, ring, maps, buffers, work) end)
        k:bar_warp_sync(0xFFFFFFFF)
        if not p.constant then k:griddepcontrol_wait() end
        copy_weights(k:min(work.to, work.from + p.stages * p.block_k))
      end)
      if p.splits == 1 then
        k:bar_sync(0)
      else
        k:barrier_cluster_arrive { sem = "relaxed" } -- fence.mbarrier_init has released what others must see
        k:barrier_cluster_wait()
      end
      k:if_(warp:ge(4 * p.consumers), function()
        if p.registers then k:setmaxnreg_dec(p.registers[1]) end
        k:if_(is_first, function() copy_weights(work.to) end)
        k:if_(warp:eq(4 * p.consumers + 1), function()
          k:griddepcontrol_wait()
          a_copier(k, p, ring, maps, buffers, work)(work.to)
        end)
      end, function()
        if p.registers then k:setmaxnreg_inc(p.registers[2]) end
        consume(k, p, ring, maps, buffers, sizes, work, warp >> 2)
      end)
    end)
    kernel:launch_rule { notes = {
      B = ("as wg.prepack gives them; the grid has %d x ceil(M / %d) x ceil(N / %d) CTAs"):format(p.splits, p.n, p.m),
      b_scales = ("K / %d x N"):format(p.group), b_zeros = p.zeros and ("K / %d x N"):format(p.group) or nil,
    } }
    return kernel
  end
end
