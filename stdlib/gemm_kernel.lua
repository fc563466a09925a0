-- The kernel of wg.gemm: persistent CTAs, in which warps of a producer warpgroup copy tiles by TMA and one to three
-- consumer warpgroups multiply them by wgmma. k:pipeline is the ring between them, k:each_tile the schedule, k:sum_parts
-- adds up the parts of K, and k:epilogue stores the result.

return function(wg, internal)
  local divided = internal.divided

  local function tiles_of(p, sizes, more)
    local out = { m = p.m, n = p.n, rows = sizes.M, columns = sizes.N, cluster = p.cluster,
      group = p.group, splits = p.splits, order = sizes.order, halves = p.halves, last_splits = p.last_splits }
    for key, value in pairs(more) do out[key] = value end
    return out
  end

  -- Calls body(place, piece) for each tile or piece of a tile. A piece has its range of K, `from` and `to`. A piece whose
  -- sums are added to those of others also has their `number` and its `part`, and, where only the run decides whether
  -- it is such a piece, the predicate `cut`. `half`, a predicate, holds where the tile has half of the rows.
  local function each_piece(k, p, sizes, more, body)
    if p.groups then return internal.each_group_tile(k, p, sizes, more.first, body) end
    local tiles = tiles_of(p, sizes, more)
    if p.stream then
      tiles.K, tiles.block, tiles.cluster, tiles.splits, tiles.halves, tiles.last_splits = sizes.K, p.round_k, nil, nil, nil, nil
      return k:each_piece(tiles, body)
    end
    k:each_tile(tiles, function(place, part, number, cut)
      local piece = { from = 0, to = sizes.K, part = part, number = number, half = p.halves and cut or nil }
      if part then piece.from, piece.to = k:part_of_k { K = sizes.K, block = p.round_k, part = part, splits = p.parts } end
      if p.last_splits > 1 then
        piece.cut = cut
        piece.from = k:selp_b32(piece.from, 0, cut, { type = "u32" })
        piece.to = k:selp_b32(piece.to, sizes.K, cut, { type = "u32" })
      end
      body(place, piece)
    end)
  end

  -- A cache policy for bytes that are used once and should leave the L2 cache first.
  local function used_once(k, once) return once and k:createpolicy_fractional_L2_evict_first(1.0) or nil end

  -- The loop of a producer, which copies the tiles of A, of B or of both: a warp, one of whose threads issues the copies. The
  -- others go round with it, so that what the copies need is the same in all lanes and lives in uniform registers.
  local function produce(k, p, ring, maps, stages, sizes, copies)
    local cursor = ring:cursor()
    local elected = k:elect_sync()
    local a, b, share, mask = k:address(stages.a), k:address(stages.b), nil, nil
    local scales = p.scaled and copies.scales and k:address(stages.scales)
    if p.cluster > 1 then
      local rank = k:special "cluster_ctarank"
      b, share, mask = b + rank * p.b:offset(p.b_piece.mn, 0), rank * p.b_piece.mn, (1 << p.cluster) - 1
    end
    -- Where memory limits the product, CTAs that all read the same columns of K at a time compete for the same memory
    -- channels: each CTA therefore starts one block after its neighbour, and wraps around.
    local from, whole_k
    if p.rotated then
      whole_k = divided(k, sizes.K + (p.block_k - 1), p.block_k) * p.block_k
      from = k:rem(k:special "ctaid.x" * p.block_k, whole_k)
    end
    local policy = copies.A and used_once(k, p.once.A)
    local metadata = copies.A and p.sparse and internal.copy_metadata(k, p, stages.metadata, sizes)
    local a_bytes = copies.A and p.a.bytes + p.metadata_bytes or 0
    local other_bytes = (copies.B and p.b.bytes or 0) + (scales and p.scaled.bytes or 0)
    -- The rows of A that piece `i` of the tile brings: all of them, or each half by itself.
    local pieces = p.halves and 2 or 1
    local function copy_a(i, row, first_k, stage, barrier, copy_words)
      local to = a + stage * p.a.bytes
      k:load_tile {
        tile = p.a_piece, whole = p.a, map = maps.A, to = i == 0 and to or to + p.a:offset(i * p.a_piece.mn, 0),
        mn = i == 0 and row or row + i * p.a_piece.mn, k = p.sparse and first_k >> 1 or first_k, barrier = barrier, policy = policy,
      }
      local blocks = p.a_piece.mn // 64
      if copy_words then copy_words(first_k, stage, barrier, i * blocks, (i + 1) * blocks - 1) end
    end
    each_piece(k, p, sizes, {}, function(place, piece)
      local tile_row, tile_column = place()
      local row, column = tile_row, tile_column
      if piece.b_first then column = column + piece.b_first end
      if share then column = column + share end
      local copy_words = metadata and metadata(row)
      local bytes = a_bytes + other_bytes
      if piece.half then bytes = k:selp_b32(a_bytes // 2 + other_bytes, bytes, piece.half, { type = "u32" }) end
      if piece.narrow and copies.B then bytes = k:selp_b32(bytes - p.b.bytes // 2, bytes, piece.narrow, { type = "u32" }) end
      k:loop({ from = piece.from, to = piece.to, step = p.block_k }, function(first_k)
        if from then
          first_k = first_k + from
          k:sub(first_k, first_k, whole_k, { guard = first_k:ge(whole_k) })
        end
        ring:acquire(cursor)
        k:if_(elected, function()
          local barrier = ring:expect(cursor, bytes)
          if scales then
            local first = p.groups and row & 0xFFFFFFFC or row
            k:cp_async_bulk_tensor_2d(scales + cursor.stage * p.scaled.stride, maps.a_scales, { first, first_k >> 7 }, barrier)
          end
          if copies.A then
            copy_a(0, row, first_k, cursor.stage, barrier, copy_words)
            if pieces == 2 then k:if_(~piece.half, function() copy_a(1, row, first_k, cursor.stage, barrier, copy_words) end) end
          end
          for product, map in ipairs(copies.B and { maps.B, maps.gate } or {}) do
            local to = b + cursor.stage * p.b.bytes
            local function copy(row_of_tile)
              local there = (product - 1) * p.n + row_of_tile
              k:load_tile {
                tile = p.b_piece, map = map, to = there == 0 and to or to + p.b:offset(there, 0), mn = row_of_tile == 0 and column or column + row_of_tile,
                k = first_k, barrier = barrier, whole = p.b, mask = mask,
              }
            end
            copy(0)
            if piece.narrow then k:if_(~piece.narrow, function() copy(p.n // 2) end) end
          end
        end)
        ring:advance(cursor)
      end)
      if p.residual_stages then
        internal.copy_residual(k, p, ring, cursor, elected, copies.C and maps.C, k:address(stages.b), tile_row, tile_column)
      end
    end)
  end

  -- The descriptors of one stage, which differ from those of the first stage only in the start address.
  local function descriptors(k, tile, base, stage)
    local first = k:mad_wide_u32(stage, tile.bytes >> 4, base)
    return function(step, row)
      local ahead = tile:descriptor(0, step, row or 0) - tile:descriptor(0, 0)
      return ahead == 0 and first or k:add(first, ahead)
    end
  end

  -- acc[i] += (rows of block i) * B for `blocks` blocks and one stage, as one commit group; of B, as many rows as there are
  -- accumulators for. A sparse A stores half of its K; metadata(block, step) gives the register and the selector of its indices.
  local function multiply(k, p, blocks, acc, a, b, first, metadata)
    local ratio = p.sparse and 2 or 1
    local form = { n = 2 * #acc[1], k = ratio * p.k_step, d = p.accumulator, a = p.dtype, b = p.dtype }
    if p.k_step == 16 then
      form.trans_a, form.trans_b = p.a_major == "MN" and 1 or 0, p.b_major == "MN" and 1 or 0
    end
    for step = 0, p.block_k // form.k - 1 do
      form.scale_d = step == 0 and first or 1
      local b_step = b(ratio * step)
      for block = 1, blocks do
        local a_step = a(step, 64 * (block - 1))
        if metadata then
          local words, selector = metadata(block, step)
          form.sp_sel = selector
          k:wgmma_mma_async_sp(acc[block], a_step, b_step, words, form)
        else
          k:wgmma_mma_async(acc[block], a_step, b_step, form)
        end
      end
    end
    k:wgmma_commit_group()
  end

  -- Consumers with tiles of their own take turns: one multiplies while the other stores. It also keeps a consumer
  -- from waiting for a phase that is not the next one to complete: a parity cannot tell the two apart.
  local function turns_of(k, p, stages, mine)
    if not p.own_tiles then return { take = function() end, pass = function() end } end
    local own, other = k:address(stages.turns, mine << 3), k:address(stages.turns, (mine ~ 1) << 3)
    local phase = mine ~ 1 -- the first consumer begins
    local first_lane = (k:special "tid.x" & 31):eq(0)
    return {
      take = function()
        k:mbarrier_wait(own, phase)
        k:xor(phase, phase, 1)
      end,
      pass = function() k:mbarrier_arrive(other, { guard = first_lane }) end,
    }
  end

  -- Scales that factor out of the sums over K: of rows or columns of D, or of all of it.
  local function factors_of(p, sizes, names)
    local out = {}
    for _, name in ipairs(names) do
      local along = p.scales[name == "gate_scales" and "b_scales" or name]
      if along and not p.scaled then
        out[#out + 1] = { along = along, from = sizes[name], extent = along == "row" and sizes.M or along == "column" and sizes.N or 1 }
      end
    end
    return out
  end

  local function consume(k, p, ring, maps, stages, sizes)
    local thread = k:special "tid.x"
    local lane = thread & 31
    local mine = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
    local shared_tile = not p.own_tiles and p.consumers > 1
    -- The consumer's share of the tile: `blocks` blocks of 64 rows, the descriptor of its A, and the way to its metadata.
    local function share_of(blocks)
      local first = shared_tile and mine * ((p.a:descriptor(0, 0, 64 * blocks) - p.a:descriptor(0)) << 4) or nil
      return {
        blocks = blocks, a = k:descriptor(stages.a, { offset = first }),
        metadata = p.sparse and internal.load_metadata(k, p, stages.metadata, shared_tile and mine, blocks),
      }
    end
    local all, half = share_of(p.blocks), p.halves and share_of(p.blocks // 2)
    local b0 = k:descriptor(stages.b)
    local store, finish, fetch, complete = k:epilogue(internal.extended({
      panel = p.panel, map = maps.D, buffer = stages.d, offset = mine * (p.buffers * p.panel.bytes),
      buffers = p.buffers, barrier = mine + 1, rows = p.groups and { to = sizes.D, width = sizes.N }, policy = used_once(k, p.once.D),
    }, internal.epilogue_of_kernel(k, p, {
      maps = maps, sizes = sizes, stages = stages, mine = mine, factors = function(names) return factors_of(p, sizes, names) end,
    })))
    local acc, summed = {}, {} -- the sums of each block of rows, and those that are added to other parts' of K
    for block = 1, p.blocks do
      local sums = k:regs(p.accumulator, p.width // 2)
      acc[block], summed[block] = sums, sums
      -- What is stored by fours lies in aligned registers, as products do. Neighbours change places, so that an addition reads
      -- its product and its sum from different banks.
      if p.scaled and p.parts > 1 then
        acc[block] = {}
        for r = 0, #sums - 1 do acc[block][r] = sums[r ~ 1] end
      end
    end
    local left = {} -- those of the tile's left half
    for block = 1, p.narrow and p.blocks or 0 do left[block] = acc[block]:slice(0, p.width // 4) end
    local function operands(stage, mine_of) return descriptors(k, p.a, (mine_of or all).a, stage), descriptors(k, p.b, b0, stage) end
    local cursor, previous = ring:cursor(), { stage = k:reg "u32" }
    k:mov(previous.stage, 0)
    local turns = turns_of(k, p, stages, mine)
    local others = p.own_tiles and divided(k, sizes.K + (p.block_k - 1), p.block_k) -- K blocks of the other consumer's tile
    if others then k:if_(mine:ne(0), function() ring:skip(cursor, others) end) end

    -- The first of the consumer's rows of a tile, and the tile's first column. place() may have been called before.
    local function my_place(place, piece, row, column)
      if not row then row, column = place() end
      if not shared_tile then return row, column end
      local rows = 64 * p.blocks
      return row + mine * (piece.half and k:selp_b32(rows // 2, rows, piece.half, { type = "u32" }) or rows), column
    end
    -- What the epilogue reads is on its way while the tile is multiplied, once its first products have been issued.
    local early = (maps.C and not p.residual_stages or p.vectors > 0) and p.splits == 1 and not p.stream and not p.scaled and { row = k:reg "u32", column = k:reg "u32" }
    local function fetch_early(piece, place, first_k)
      k:if_(first_k:eq(piece.from), function()
        local row, column = my_place(place, piece)
        k:mov(early.row, row)
        k:mov(early.column, column)
        fetch(row, column)
      end)
    end

    local function sum_products(piece, place)
      turns.take()
      -- One stage, of the round that begins at first_k.
      local function block_of_k(mine_of, sums, first_k, set)
        ring:wait(cursor)
        local indices = mine_of.metadata and mine_of.metadata(set, cursor.stage)
        k:wgmma_fence()
        local later = set == 1 and first_k:gt(piece.from) or nil -- nil: certainly not the first of the piece
        local a, b = operands(cursor.stage, mine_of)
        multiply(k, p, mine_of.blocks, sums, a, b, later or 1, indices)
        if early and set == 1 then fetch_early(piece, place, first_k) end
        k:wgmma_wait_group(1) -- the previous block is complete: its stage is free
        ring:release(previous, { lane = lane, cluster = p.cluster, guard = later })
        k:mov(previous.stage, cursor.stage)
        ring:advance(cursor)
      end
      local function whole_k(mine_of, sums)
        k:loop({ from = piece.from, to = piece.to, step = p.round_k }, function(first_k)
          for set = 1, p.round_k // p.block_k do block_of_k(mine_of, sums or acc, first_k, set) end
        end)
      end
      if piece.half then
        k:if_(piece.half, function() whole_k(half) end, function() whole_k(all) end)
      elseif piece.narrow then
        k:if_(piece.narrow, function() whole_k(all, left) end, function() whole_k(all) end)
      else
        whole_k(all)
      end
      turns.pass()
    end
    if p.scaled then
      sum_products = internal.scaled_sums(k, p, acc, {
        ring = ring, cursor = cursor, lane = lane, sizes = sizes, row = mine * (64 * p.blocks), buffer = stages.scales, operands = operands,
      })
    end

    local function work_on(place, piece)
      local row, column = sum_products(piece, place)
      if early then
        row, column = early.row, early.column
      else
        row, column = my_place(place, piece, row, column) -- overlaps with the last block's product
        if not piece.part then fetch(row, column) end
      end
      if not p.scaled then
        k:wgmma_wait_group(0)
        ring:release(previous, { lane = lane, cluster = p.cluster })
      end
      if others then ring:skip(cursor, others) end
      local function store_all()
        local function store_blocks(from, to)
          for block = from, to do store(acc[block], block == 1 and row or row + 64 * (block - 1), column, piece.limit, nil, piece.narrow) end
        end
        if not piece.half then
          store_blocks(1, p.blocks)
          return complete(row)
        end
        store_blocks(1, half.blocks)
        k:if_(~piece.half, function() store_blocks(half.blocks + 1, p.blocks) end)
      end
      if p.residual_stages then
        return internal.each_residual(k, p, ring, cursor, k:address(stages.b), lane, mine, function(block, from)
          store(acc[block], block == 1 and row or row + 64 * (block - 1), column, nil, from)
          if block == p.blocks then complete(row) end
        end)
      end
      if not piece.part then return store_all() end
      local function sum()
        return k:sum_parts {
          acc = summed, partials = sizes.partials, counters = sizes.counters, tile = piece.number * p.consumers + mine,
          part = piece.part, splits = p.parts, barrier = mine + 1, flag = k:address(stages.flags, mine << 2),
        }
      end
      if not piece.cut then return k:if_(sum(), store_all) end
      local whole = k:reg "u32"
      k:mov(whole, 1)
      k:if_(piece.cut, function() k:mov(whole, 0, { guard = ~sum() }) end)
      k:if_(whole:ne(0), store_all)
    end

    -- A consumer none of whose rows belong to the group multiplies nothing.
    local function pass_by(piece)
      turns.take()
      k:loop({ from = piece.from, to = piece.to, step = p.block_k }, function()
        ring:wait(cursor)
        ring:release(cursor, { lane = lane, cluster = p.cluster })
        ring:advance(cursor)
      end)
      turns.pass()
      if others then ring:skip(cursor, others) end
    end

    local may_pass_by = p.groups and (shared_tile or p.cluster > 1)
    each_piece(k, p, sizes, p.own_tiles and { first = mine, every = 2 } or {}, function(place, piece)
      if not may_pass_by then return work_on(place, piece) end
      local row = my_place(place, piece)
      k:if_(row:lt(piece.limit), function() work_on(place, piece) end, function() pass_by(piece) end)
    end)
    finish()
  end

  -- What a launch without wg.gemm must know, for kernel:export.
  local function launch_rule(p)
    local notes, sums = {}, p.m * p.width
    if p.swapped then
      notes.A, notes.B = "B of the product, for the kernel computes the transpose of D", "A of the product"
      notes.M, notes.N = "columns of D", "rows of D"
    end
    if p.sparse then
      notes.A, notes.metadata = "the values of A, M x K / 2", 'of wg.sparse.compress(A, "gemm"), as the values'
    end
    if p.scaled then
      notes.a_scales, notes.b_scales = "ceil(K / 128) x M, M rounded up to a multiple of 4", "ceil(N / 128) x ceil(K / 128)"
    end
    internal.epilogue_notes(p, notes)
    if p.groups then
      notes.B, notes.N = "those of all groups, one below the other", "columns of D"
      if p.scaled then notes.b_scales = notes.b_scales .. " for each group" end
      notes.D_data, notes.groups = "D again", "the number of groups"
      if p.groups == "contiguous" then notes.offsets = "where each group ends" end
      if p.groups == "masked" then notes.sizes = "the rows of each group" end
    end
    if p.raster == "hilbert" then
      notes.order = ("for each tile of %d x %d its row << 16 | its column, in the order of the work (wg.hilbert)"):format(p.m * p.cluster, p.n)
    end
    if p.stream then
      notes.partials = ("%d elements for each CTA of the grid"):format(2 * sums)
      notes.counters = ("%d for each CTA of the grid, zeros before the first launch"):format(p.consumers)
    elseif p.last_splits > 1 then
      notes.partials = ("%d elements for each %d CTAs of the grid"):format(p.parts * sums, p.parts)
      notes.counters = ("%d for each %d CTAs of the grid, zeros before the first launch"):format(p.consumers, p.parts)
    elseif p.splits > 1 then
      local tiles = ("for each of the ceil(M / %d) * %d * ceil(N / %d) tiles"):format(p.m * p.cluster, p.cluster, p.n)
      notes.partials = ("%d elements %s"):format(p.splits * sums, tiles)
      notes.counters = ("%d %s, zeros before the first launch"):format(p.consumers, tiles)
    end
    return { rows = "M", columns = "N", m = p.m * p.cluster, n = p.n, parts = p.splits, notes = notes }
  end

  --- The kernel of a plan (of internal.gemm_plan).
  function internal.gemm_kernel(p)
    local kernel = wg.kernel(p.name, { threads = p.threads, cluster = { p.cluster } }, function(k)
      local maps = {
        A = k:tensor_map("A", { tile = p.a_piece, constant = true }),
        B = k:tensor_map("B", { tile = p.b_piece, constant = true }),
        D = k:tensor_map("D", p.panel.box),
      }
      local sizes = { M = k:param("M", "u32"), N = k:param("N", "u32"), K = k:param("K", "u32") }
      internal.epilogue_parameters(k, p, sizes, maps)
      if p.sparse then
        sizes.metadata = k:param("metadata", "const u32*")
        sizes.K = divided(k, sizes.K + (p.round_k - 1), p.round_k) * p.round_k -- the ring goes round in whole rounds; TMA fills in zeros
      end
      for _, name in ipairs { "a_scales", "b_scales" } do
        if p.scaled and name == "a_scales" then
          maps[name] = k:tensor_map(name, p.scaled.box)
        elseif p.scales[name] then
          sizes[name] = k:param(name, "const f32*")
        end
      end
      if p.groups then
        sizes.D = k:param("D_data", p.d .. "*")
        internal.group_parameters(k, p, sizes)
      end
      if p.raster == "hilbert" then sizes.order = k:param("order", "const u32*") end
      if p.parts > 1 then
        sizes.partials, sizes.counters = k:param("partials", p.accumulator .. "*"), k:param("counters", "u32*")
      end
      local stages = {
        a = k:shared { tile = p.a, count = p.stages, name = "A" },
        b = k:shared { tile = p.b, count = p.stages, name = "B" },
        metadata = p.sparse and k:shared { bytes = p.stages * p.metadata_bytes, align = 128, name = "metadata" } or nil,
        d = k:shared { bytes = p.buffers * p.consumers * p.panel.bytes, align = p.panel.align, name = "D" },
        scales = p.scaled and k:shared { bytes = p.stages * p.scaled.stride, align = 128, name = "scales" } or nil,
        turns = p.own_tiles and k:shared { bytes = 16, align = 8, name = "turns" } or nil,
        vectors = p.vectors > 0 and k:shared { bytes = 4 * p.n * p.vectors * p.consumers, align = 16, name = "vectors" } or nil,
        c = maps.C and not p.residual_stages and k:shared { bytes = 8 * p.consumers, align = 8, name = "C" } or nil,
        flags = (p.parts > 1 or p.epilogue.row_sums) and k:shared { bytes = 4 * p.consumers, align = 4, name = "flags" } or nil,
      }
      -- Every warp that reads a stage releases it to each CTA that fills it.
      local readers = 4 * (p.own_tiles and 1 or p.consumers)
      local ring = k:pipeline { stages = p.stages, arrivals = readers * p.cluster, producers = p.constant and 2 or 1 }
      local function sync_all()
        if p.cluster == 1 then return k:bar_sync(0) end
        k:barrier_cluster_arrive()
        k:barrier_cluster_wait()
      end

      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function()
        for _, name in ipairs { "A", "B", "gate", "C", "D", "a_scales" } do
          if maps[name] then k:prefetch_tensormap(maps[name]) end
        end
        if stages.turns then
          for c = 0, 1 do k:mbarrier_init(k:address(stages.turns, 8 * c), 4) end
        end
        if stages.c then
          for c = 0, p.consumers - 1 do k:mbarrier_init(k:address(stages.c, 8 * c), 1) end
        end
        ring:init()
      end)
      -- The next grid of the stream may start now, just as this one may have started early: its prologue then overlapped
      -- the end of the previous grid, and griddepcontrol.wait waits for that grid's results. An operand that the previous
      -- grid does not write need not wait: it has a producer of its own, and no consumer proceeds before the other
      -- producer has waited.
      k:griddepcontrol_launch_dependents()
      if not p.constant then k:griddepcontrol_wait() end
      sync_all()
      k:if_((thread >> 7):eq(0), function()
        k:setmaxnreg_dec(p.registers[1])
        local warp = k:shfl_sync_idx_b32(thread >> 5, 0, 31) -- the same in all lanes
        local function producer(number) return warp:eq(number) end
        if not p.constant then
          k:if_(producer(0), function() produce(k, p, ring, maps, stages, sizes, { A = true, B = true, C = true, scales = true }) end)
        else
          local other = p.constant == "A" and "B" or "A"
          k:if_(producer(0), function() produce(k, p, ring, maps, stages, sizes, { [p.constant] = true }) end)
          k:if_(producer(1), function()
            k:griddepcontrol_wait()
            produce(k, p, ring, maps, stages, sizes, { [other] = true, C = true, scales = true })
          end)
        end
      end, function()
        k:setmaxnreg_inc(p.registers[2])
        consume(k, p, ring, maps, stages, sizes)
      end)
      -- A CTA must not end while others of its cluster may still write to it or arrive at its barriers.
      if p.cluster > 1 then sync_all() end
    end)
    kernel:launch_rule(launch_rule(p))
    return kernel
  end
end
