-- The kernel of wg.gemm{ b_type = }: weights of 4 or 8 bits become 16-bit operands in registers.
--
-- The roles of A and B are exchanged: wgmma's A are 64 rows of weights, in registers, and its columns are the rows of A, in
-- shared memory, of which there may be few. A CTA has a tile of 128 rows of weights and all rows of A, or 256 of them, and a
-- part of K; the CTAs of a cluster have the other parts. One thread keeps a ring of stages full; two warpgroups convert the
-- weights of a step while the tensor cores multiply those of the step before. At the end each CTA sends its sums for
-- other CTAs' rows to them, straight from registers to their shared memory (st.async, PTX ISA 9.7.9.12).

return function(wg, internal)
  -- What a CTA works on: the first row of weights, the first row of A, and its part of K.
  local function work_of(k, p, sizes)
    local cta, part = k:special "ctaid.x", 0
    local tile = cta
    if p.splits > 1 then
      tile = k:div(cta, p.splits)
      part = k:special "cluster_ctarank"
    end
    local columns = k:div(sizes.M + (p.n - 1), p.n)
    local row = k:div(tile, columns)
    local from, to = k:part_of_k { K = sizes.K, block = p.block_k, part = part, splits = p.splits }
    return { part = part, row = row * p.m, column = (tile - row * columns) * p.n, from = from, to = to }
  end

  -- The producer's thread.
  local function produce(k, p, ring, maps, buffers, sizes, work)
    local cursor, weights, a = ring:cursor(), k:address(buffers.weights), k:address(buffers.a)
    local once = k:createpolicy_fractional_L2_evict_first(1.0) -- each weight is read by one CTA
    local scales = { { map = maps.b_scales, at = k:address(buffers.b_scales) } }
    if p.zeros then scales[2] = { map = maps.b_zeros, at = k:address(buffers.b_zeros) } end
    local bytes = p.consumers * p.weight_bytes + p.a.bytes + #scales * p.scale_bytes

    -- Where each warpgroup's weights of a block begin. Of the last 64 rows, where N ends there, the second one gets them too.
    local unit_bytes, units = 2048, p.weight_bytes // 2048
    local per_rows = k:div(sizes.K + (internal.packed_k - 1), internal.packed_k) * (internal.packed_k * p.bits // 256)
    local last = k:div(sizes.N + 63, 64) - 1
    local from_of = {}
    for i = 0, p.consumers - 1 do
      local rows = k:min((work.row >> 6) + i, last)
      local first = rows * per_rows + k:div(work.from, p.block_k) * units
      from_of[i] = k:mad_wide_u32(first, unit_bytes, sizes.weights)
    end

    -- Weights with their scales, and A: the stage of a cursor, for the block of K that begins at first_k.
    local function copy_weights(first_k)
      local barrier = ring:expect(cursor, bytes)
      local to = weights + cursor.stage * (p.consumers * p.weight_bytes)
      for i = 0, p.consumers - 1 do
        k:cp_async_bulk(i == 0 and to or to + i * p.weight_bytes, from_of[i], p.weight_bytes, barrier, { policy = once })
        k:add(from_of[i], from_of[i], p.weight_bytes)
      end
      for _, s in ipairs(scales) do
        k:cp_async_bulk_tensor_2d(s.at + cursor.stage * p.scale_bytes, s.map, { work.row, k:div(first_k, p.group) }, barrier)
      end
    end
    local function copy_a(first_k)
      k:load_tile {
        tile = p.a, map = maps.A, to = a + cursor.stage * p.a.bytes, mn = work.column, k = first_k, barrier = ring:full_barrier(cursor),
      }
    end

    -- Weights that no launch before writes come at once, for as many blocks as there are stages. What waits for the
    -- launches before is A, and with it all that follows.
    local first_k = k:mov(work.from, { type = "u32" })
    if p.constant then
      local ahead = k:min(work.to, work.from + p.stages * p.block_k)
      k:loop({ from = work.from, to = ahead, step = p.block_k }, function(at)
        copy_weights(at)
        ring:advance(cursor)
      end)
      k:griddepcontrol_wait()
      k:mov(cursor.stage, 0)
      k:mov(cursor.phase, 0)
      k:loop({ from = work.from, to = ahead, step = p.block_k }, function(at)
        copy_a(at)
        ring:advance(cursor)
      end)
      k:mov(first_k, ahead)
    end
    k:loop({ from = first_k, to = work.to, step = p.block_k }, function(at)
      ring:acquire(cursor)
      copy_weights(at)
      copy_a(at)
      ring:advance(cursor)
    end)
  end

  -- A consumer's weights, scales and zero points of a stage, from shared memory into registers: load(stage) gives the words
  -- of each step of 16 elements of K, and what its two rows are scaled by.
  local function loader(k, p, buffers, how, mine, thread)
    local base = k:address(buffers.weights, thread << 4) + mine * p.weight_bytes
    local my_row = (mine << 6) + ((thread >> 5) << 4) + (thread >> 2 & 7)
    local of_rows = { k:address(buffers.b_scales, my_row << 1), p.zeros and k:address(buffers.b_zeros, my_row << 1) }
    local words = k:regs("b32", p.weight_bytes // 512)

    local function twice(at, offset)
      local half = k:reg "b16"
      k:ld_shared_b16(half, at, { offset = offset })
      return k:pack { half, half }
    end
    return function(stage)
      local from = base + stage * (p.consumers * p.weight_bytes)
      for i = 0, #words - 1, 4 do k:ld_shared_v4_b32(words:slice(i, 4), from, { offset = 512 * i }) end
      local rows = {} -- of each group in the block
      for group = 0, p.groups_of_block - 1 do
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
  local function sum_products(k, p, ring, buffers, work, acc, mine, thread)
    local how, lane, cursor = internal.mixed_convert(k, p), thread & 31, ring:cursor()
    local load = loader(k, p, buffers, how, mine, thread)
    local form = { n = p.n, k = 16, d = "f32", a = p.dtype, b = p.dtype, trans_b = 0, scale_d = 1 }
    local previous = { stage = k:reg "u32" }
    k:mov(previous.stage, 0)
    -- Two sets of operands: one is converted to while the tensor cores read the other.
    local steps, sets = p.block_k // 32, {}
    for set = 0, 1 do sets[set] = k:regs("b32", 4 * steps) end
    local descriptor = k:descriptor(buffers.a)
    for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end

    k:loop({ from = work.from, to = work.to, step = p.block_k }, function(first_k)
      ring:wait(cursor)
      local of_step = load(cursor.stage)
      -- The weights have been read: the copy that overwrites them may follow, once one lane has said so for its warp.
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_warp_sync(0xFFFFFFFF)
      local b = k:mad_wide_u32(cursor.stage, p.a.bytes >> 4, descriptor)
      for set = 0, 1 do
        local operands = sets[set]
        for i = 0, steps - 1 do
          local made = how.convert(of_step(set * steps + i))
          for r = 0, 3 do k:mov(operands[4 * i + r], made[r]) end
        end
        k:wgmma_fence()
        for i = 0, steps - 1 do
          local ahead = p.a:descriptor(0, set * steps + i) - p.a:descriptor(0, 0)
          k:wgmma_mma_async(acc, operands:slice(4 * i, 4), ahead == 0 and b or k:add(b, ahead), form)
        end
        k:wgmma_commit_group()
        k:wgmma_wait_group(1) -- the other set is free, and with its last one the stage before
        if set == 0 then ring:release(previous, { lane = lane, guard = first_k:gt(work.from) }) end
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

  -- Parts of K: warpgroup w's rows belong to the cluster's CTA w, which receives the other CTAs' sums and adds them up in
  -- their order. Calls store() in warpgroups that then hold the sums of all parts.
  local function exchange(k, p, buffers, work, acc, mine, thread, store)
    local sums, barrier = k:address(buffers.exchange, thread << 4), k:address(buffers.arrived)
    local block = p.n * 256 -- bytes of a warpgroup's sums
    local owner = work.part:eq(mine)
    k:if_(owner, function()
      k:mbarrier_wait(barrier, 0)
      for sender = 0, p.splits - 2 do
        each_four(acc, function(four, place)
          local theirs = k:regs("f32", 4)
          k:ld_shared_v4_f32(theirs, sums, { offset = sender * block + place })
          for i = 0, 3 do k:add(four[i], four[i], theirs[i]) end
        end)
      end
      store()
    end, function()
      local slot = k:selp_b32(work.part - 1, work.part, work.part:gt(mine), { type = "u32" })
      local to, counted = k:mapa(sums + slot * block, mine), k:mapa(barrier, mine)
      each_four(acc, function(four, place) k:st_async_v4_f32(place == 0 and to or to + place, four, counted) end)
    end)
  end

  local function consume(k, p, ring, maps, buffers, sizes, work)
    local tid, mine = k:special "tid.x", k:reg "u32"
    k:shfl_sync_idx_b32(mine, tid >> 7, 0, 31) -- the same in all lanes
    local thread = tid & 127
    local acc = k:regs("f32", p.n // 2)
    local exchanged = setmetatable({ M = sizes.N, N = sizes.M }, { __index = sizes }) -- as the accumulators have them
    local store, finish = k:epilogue(internal.extended({
      panel = p.panel, map = maps.D, buffer = buffers.exchange, offset = p.splits == 1 and mine * p.panel.bytes or p.panel_offset,
      barrier = mine + 1,
    }, internal.epilogue_of_kernel(k, p, { maps = maps, sizes = exchanged, stages = buffers, mine = mine, factors = function() end })))
    sum_products(k, p, ring, buffers, work, acc, mine, thread)
    local function store_all()
      store(acc, work.row + (mine << 6), work.column)
      finish()
    end
    if p.splits == 1 then return store_all() end
    exchange(k, p, buffers, work, acc, mine, thread, store_all)
  end

  -- The kernel's parameters, in the order of a launch's arguments.
  local function parameters(k, p)
    local maps = { A = k:tensor_map("A", { tile = p.a, constant = true }) }
    local sizes = { weights = k:param("B", "const u32*") }
    maps.D = k:tensor_map("D", p.panel.box)
    for _, name in ipairs { "M", "N", "K" } do sizes[name] = k:param(name, "u32") end
    local box = { dtype = p.dtype, box = { p.m, p.groups_of_block }, constant = true }
    maps.b_scales = k:tensor_map("b_scales", box)
    if p.zeros then maps.b_zeros = k:tensor_map("b_zeros", box) end
    internal.epilogue_parameters(k, p, sizes, maps)
    return maps, sizes
  end

  --- The kernel of a plan (of internal.mixed_plan).
  function internal.mixed_kernel(p)
    local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.splits } }, function(k)
      local maps, sizes = parameters(k, p)
      local buffers = {
        a = k:shared { tile = p.a, count = p.stages, name = "A" },
        exchange = k:shared { bytes = p.exchange_bytes, align = 1024, name = "D" },
        weights = k:shared { bytes = p.stages * p.consumers * p.weight_bytes, align = 128, name = "B" },
        b_scales = k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = "b_scales" },
        b_zeros = p.zeros and k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = "b_zeros" } or nil,
        arrived = p.splits > 1 and k:shared { bytes = 8, align = 8, name = "sums" } or nil,
        c = (p.epilogue.beta or p.epilogue.residual) and k:shared { bytes = 8 * p.consumers, align = 8, name = "C" } or nil,
      }
      local ring = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers }
      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function()
        for _, name in ipairs { "A", "b_scales", "b_zeros", "C", "D" } do
          if maps[name] then k:prefetch_tensormap(maps[name]) end
        end
        if buffers.c then
          for c = 0, p.consumers - 1 do k:mbarrier_init(k:address(buffers.c, 8 * c), 1) end
        end
        local arrived = buffers.arrived and k:address(buffers.arrived)
        if arrived then k:mbarrier_init(arrived, 1) end
        ring:init()
        if arrived then
          local bytes = k:selp_b32((p.splits - 1) * p.n * 256, 0, k:special "cluster_ctarank":lt(p.consumers), { type = "u32" })
          k:mbarrier_arrive_expect_tx(arrived, bytes)
        end
      end)
      k:griddepcontrol_launch_dependents()
      if not p.constant then k:griddepcontrol_wait() end
      if p.splits == 1 then
        k:bar_sync(0)
      else
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
      end
      local work = work_of(k, p, sizes)
      k:if_(thread:ge(128 * p.consumers), function()
        if p.registers then k:setmaxnreg_dec(p.registers[1]) end
        k:if_(thread:eq(128 * p.consumers), function() produce(k, p, ring, maps, buffers, sizes, work) end)
      end, function()
        if p.registers then k:setmaxnreg_inc(p.registers[2]) end
        consume(k, p, ring, maps, buffers, sizes, work)
      end)
    end)
    kernel:launch_rule { notes = {
      B = ("as wg.prepack gives them; the grid has %d CTAs for each of ceil(M / %d) * ceil(N / %d) tiles"):format(p.splits, p.n, p.m),
      b_scales = ("K / %d x N"):format(p.group), b_zeros = p.zeros and ("K / %d x N"):format(p.group) or nil,
    } }
    return kernel
  end
end
