-- A consumer of wg.gemm: a warpgroup that multiplies the stages of the ring by wgmma. Its main loop keeps one product under way while it
-- waits for the next stage, and releases a stage when the product behind it has begun:
--
--   wait for stage s       wgmma s      wait_group(1): s - 1 is complete    release s - 1
--   wait for stage s + 1   wgmma s + 1  wait_group(1): s is complete        release s
--
-- With scales for blocks of K it has another main loop (gemm/block_scales.lua). What becomes of the sums stands in gemm/epilogue.lua.

return function(internal)
  local divided = internal.divided

  -- The CTA that this lane tells of free stages, in a cluster along M and N: the first lanes those along M, from which B comes, the others
  -- those along N, from which A comes. The CTA itself is one of the first.
  local function filler_of(k, p, lane)
    local rank = k:special "cluster_ctarank"
    local row, column = internal.remainder(k, rank, p.cluster_m), divided(k, rank, p.cluster_m)
    local other = lane - p.cluster_m
    local across = row + k:selp_b32(other + 1, other, other:ge(column), { type = "u32" }) * p.cluster_m
    return k:selp_b32(column * p.cluster_m + lane, across, lane:lt(p.cluster_m), { type = "u32" })
  end

  -- Which consumer this is: its number, and place(piece, place, row, column), the first of its rows of a tile and the tile's first column;
  -- row and column are the tile's, if place() has been called before. `shares`: consumers share a tile.
  local function consumer_of(k, p)
    local thread = k:special "tid.x"
    local me = { lane = thread & 31, shares = not p.own_tiles and p.consumers > 1 }
    if p.cluster_m > 1 and p.cluster_n > 1 then me.filler = filler_of(k, p, me.lane) end
    me.number = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
    function me.place(piece, place, row, column)
      if not row then row, column = place() end
      if not me.shares then return row, column end
      local rows = 64 * p.blocks
      return row + me.number * (piece.half and k:selp_b32(rows // 2, rows, piece.half, { type = "u32" }) or rows), column
    end
    return me
  end

  -- The descriptors of one stage, which differ from those of the first stage only in the start address.
  local function descriptors(k, tile, base, stage)
    local first = k:mad_wide_u32(stage, tile.bytes >> 4, base)
    return function(step, row)
      local ahead = tile:descriptor(0, step, row or 0) - tile:descriptor(0, 0)
      return ahead == 0 and first or k:add(first, ahead)
    end
  end

  -- The consumer's operands. A share of the tile is `blocks` blocks of 64 rows, the descriptor of their A, and the way to their
  -- metadata; `whole` is the share of a tile, `half` that of a tile with half of the rows. of_stage(stage, share) gives the
  -- descriptors of A and B in a stage.
  local function operands_of(k, p, stages, me)
    local function share_of(blocks)
      local first = me.shares and me.number * ((p.a:descriptor(0, 0, 64 * blocks) - p.a:descriptor(0)) << 4) or nil
      return {
        blocks = blocks, a = k:descriptor(stages.a, { offset = first }),
        metadata = p.sparse and internal.load_metadata(k, p, stages.metadata, me.shares and me.number, blocks),
      }
    end
    local operands = { whole = share_of(p.blocks), half = p.halves and share_of(p.blocks // 2) }
    local b = k:descriptor(stages.b)
    function operands.of_stage(stage, share) return descriptors(k, p.a, share.a, stage), descriptors(k, p.b, b, stage) end
    return operands
  end

  --- Accumulators of blocks of 64 rows, each register under its neighbour's number.
  function internal.neighbours_exchanged(acc)
    local out = {}
    for block, sums in ipairs(acc) do
      out[block] = {}
      for r = 0, #sums - 1 do out[block][r] = sums[r ~ 1] end
    end
    return out
  end

  -- The accumulators of each block of 64 rows; those of the tile's left half, where it may have only that; and those that are added to the
  -- sums of other parts of K.
  local function accumulators(k, p)
    local acc, left, added = {}, {}, {}
    for block = 1, p.blocks do
      local sums = k:regs(p.accumulator, p.width // 2)
      acc[block], added[block] = sums, sums
    end
    -- Sums that are sent by fours lie in aligned registers, as the products of gemm/block_scales.lua do. There neighbours change places, so
    -- that an addition reads its product and its sum from different register banks.
    if p.scaled and p.parts > 1 then acc = internal.neighbours_exchanged(acc) end
    for block = 1, p.narrow and p.blocks or 0 do left[block] = acc[block]:slice(0, p.width // 4) end
    return acc, left, added
  end

  -- Consumers with tiles of their own (ping-pong) take turns: one multiplies while the other stores. Turns also keep a consumer from
  -- waiting for a phase that is not the next one to complete: a parity cannot tell the two apart.
  local function turns_of(k, p, buffer, sizes, me)
    local function nothing() end
    if not p.own_tiles then return { take = nothing, pass = nothing, skip = nothing } end
    local own, other = k:address(buffer, me.number << 3), k:address(buffer, (me.number ~ 1) << 3)
    local phase = me.number ~ 1 -- the first consumer begins
    local first_lane = (k:special "tid.x" & 31):eq(0)
    local blocks = divided(k, sizes.K + (p.block_k - 1), p.block_k)
    local function skip() me.ring:skip(me.cursor, blocks) end -- the stages of the other consumer's tile
    k:if_(me.number:ne(0), skip)
    return {
      take = function()
        k:mbarrier_wait(own, phase)
        k:xor(phase, phase, 1)
      end,
      pass = function() k:mbarrier_arrive(other, { guard = first_lane }) end,
      skip = skip,
    }
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

  -- The main loop: sum(piece, place) leaves the sums of a tile or piece in `acc`, the product of its last block still under way. After the
  -- first one it calls begun(piece, place).
  local function main_loop(k, p, me, operands, acc, left, begun)
    local ring, cursor, previous = me.ring, me.cursor, me.previous

    local function block_of_k(share, sums, piece, place, first_k, set)
      ring:wait(cursor)
      local indices = share.metadata and share.metadata(set, cursor.stage)
      k:wgmma_fence()
      local later = set == 1 and first_k:gt(piece.from) or nil -- nil: certainly not the first of the piece
      local a, b = operands.of_stage(cursor.stage, share)
      multiply(k, p, share.blocks, sums, a, b, later or 1, indices)
      if begun and set == 1 then k:if_(first_k:eq(piece.from), function() begun(piece, place) end) end
      k:wgmma_wait_group(1) -- the previous block is complete: its stage is free
      ring:release(previous, { lane = me.lane, cluster = p.fillers, to = me.filler, guard = later })
      k:mov(previous.stage, cursor.stage)
      ring:advance(cursor)
    end

    return function(piece, place)
      local function whole_k(share, sums)
        k:loop({ from = piece.from, to = piece.to, step = p.round_k }, function(first_k)
          for set = 1, p.round_k // p.block_k do block_of_k(share, sums, piece, place, first_k, set) end
        end)
      end
      me.turns.take()
      if piece.half then
        k:if_(piece.half, function() whole_k(operands.half, acc) end, function() whole_k(operands.whole, acc) end)
      elseif piece.narrow then
        k:if_(piece.narrow, function() whole_k(operands.whole, left) end, function() whole_k(operands.whole, acc) end)
      else
        whole_k(operands.whole, acc)
      end
      me.turns.pass()
    end
  end

  -- A consumer none of whose rows belong to the group multiplies nothing.
  local function pass_by(k, p, me, piece)
    me.turns.take()
    k:loop({ from = piece.from, to = piece.to, step = p.block_k }, function()
      me.ring:wait(me.cursor)
      me.ring:release(me.cursor, { lane = me.lane, cluster = p.fillers, to = me.filler })
      me.ring:advance(me.cursor)
    end)
    me.turns.pass()
    me.turns.skip()
  end

  --- The role of a consumer.
  function internal.gemm_consume(k, p, ring, maps, stages, sizes)
    local me = consumer_of(k, p)
    local operands = operands_of(k, p, stages, me)
    local output = internal.gemm_output(k, p, maps, stages, sizes, me)
    local acc, left, added = accumulators(k, p)
    me.ring, me.cursor, me.previous = ring, ring:cursor { held = p.scaled ~= nil }, { stage = k:reg "u32" }
    k:mov(me.previous.stage, 0)
    me.turns = turns_of(k, p, stages.turns, sizes, me)
    local epilogue = internal.gemm_epilogue(k, p, stages, sizes, me, output, acc, added)
    local sum_products
    if p.scaled then
      sum_products = internal.scaled_sums(k, p, acc, {
        ring = ring, cursor = me.cursor, lane = me.lane, filler = me.filler, number = me.number, sizes = sizes, buffer = stages.scales,
        operands = function(stage) return operands.of_stage(stage, operands.whole) end,
      })
    else
      sum_products = main_loop(k, p, me, operands, acc, left, epilogue.fetch_early)
    end

    local function work_on(place, piece)
      local row, column = sum_products(piece, place)
      row, column = epilogue.begin(piece, place, row, column) -- overlaps with the last block's product
      if not p.scaled then
        k:wgmma_wait_group(0)
        ring:release(me.previous, { lane = me.lane, cluster = p.fillers, to = me.filler })
      end
      me.turns.skip()
      epilogue.store(piece, row, column)
    end

    local may_pass_by = p.groups and (me.shares or p.cluster > 1)
    internal.gemm_each_piece(k, p, sizes, p.own_tiles and { first = me.number, every = 2 } or {}, function(place, piece)
      if not may_pass_by then return work_on(place, piece) end
      local row = me.place(piece, place)
      k:if_(row:lt(piece.limit), function() work_on(place, piece) end, function() pass_by(k, p, me, piece) end)
    end)
    output.finish()
  end
end
