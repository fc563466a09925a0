-- Products of 8-bit floats whose operands have a scale for each block of K: a row of A has one for each 128 elements, B
-- one for each 128 x 128. The sums of a block of K are complete in one set of accumulators; CUDA cores multiply them by
-- the two scales and add them to a second set, in full f32, which the tensor cores' own sums of 8-bit floats are not
-- (docs/silicon.md). Meanwhile the tensor cores multiply for another warpgroup.

local block = 128 -- the elements of K that share scales, and the rows of B that do

local function common_divisor(a, b) return b == 0 and a or common_divisor(b, a % b) end

return function(_, internal)
  local fail, ceil_div = internal.fail, internal.ceil_div

  --- Adds to a plan of wg.gemm what its scales for blocks need: `p.scaled`. Raises where the plan has no room for them.
  function internal.plan_block_scales(p)
    if p.block_k ~= block then fail(("wg.gemm: tile[3] is %d, must be %d: the blocks of K that have scales"):format(p.block_k, block)) end
    -- TMA begins at multiples of 16 bytes. A group begins at any row: its scales come with up to three before them.
    local lines = p.m + (p.groups and 4 or 0)
    if lines > 256 then
      fail(("wg.gemm: tile[1] is %d: with scales for blocks at most %s"):format(p.m, p.groups and "192, with groups" or "256"))
    end
    local segment = common_divisor(p.n, block)
    local s = {
      segment = segment, -- columns of a tile that surely have the same scale of B, wherever the tile begins
      rows = ceil_div(p.n + block - segment, block), -- rows of B's scales that a tile can touch
      parts = 1,
      bytes = 4 * lines, -- of a stage: a scale for each row of A
      stride = ceil_div(4 * lines, 128) * 128, -- from stage to stage
      box = { dtype = "f32", box = { lines, 1 }, constant = true },
    }
    -- A product takes as many columns at a time as there are registers for besides the sums.
    local most = p.consumers == 3 and 128 or 192
    while p.blocks * p.n // 2 + p.n // s.parts // 2 > most or p.n % (8 * s.parts) ~= 0 do
      s.parts = s.parts + 1
      if p.n // s.parts < 32 then
        fail(("wg.gemm: a tile of %d x %d leaves no registers for the products of a block of K: at most %d columns fit"):format(p.m, p.n, (most - 32) // p.blocks * 2))
      end
    end
    s.columns = p.n // s.parts
    p.scaled = s
  end

  -- The scale of B that each segment of the tile's columns has, from those of the rows of scales that the tile touches:
  -- `inside` is where the tile begins in the first of them.
  local function of_segments(k, s, loaded, inside)
    return function(segment)
      local first = segment * s.segment
      local least, most = first // block, (first + block - s.segment) // block
      if least == most then return loaded[least] end
      return k:selp(loaded[most], loaded[least], inside:ge(most * block - first))
    end
  end

  --- The main loop of a consumer: returns body(piece, place), which leaves a tile's sums in `sums`, f32 registers from 0 for each
  --- of the plan's blocks of 64 rows, and returns the tile's place. given: ring, cursor, lane, sizes, number (of the consumer), buffer (of
  --- A's scales), operands(stage): the descriptors a(step, row) and b(step, row) of a stage.
  function internal.scaled_sums(k, p, sums, given)
    local s, ring, cursor, lane, sizes = p.scaled, given.ring, given.cursor, given.lane, given.sizes
    local thread = k:special "tid.x"
    local products = k:regs("f32", s.columns // 2)
    local form = { n = s.columns, k = p.k_step, d = "f32", a = p.dtype, b = p.dtype }
    local my_row = given.number * (64 * p.blocks) + ((thread >> 5 & 3) << 4) + (lane >> 2)
    local my_scales = k:address(given.buffer, my_row << 2)
    local of_a, of_b, next_of_b = k:regs("f32", 2 * p.blocks), k:regs("f32", s.rows), k:regs("f32", s.rows)

    local function multiply(at, part, a, b)
      k:wgmma_fence()
      for step = 0, block // p.k_step - 1 do
        form.scale_d = step == 0 and 0 or 1
        k:wgmma_mma_async(products, a(step, 64 * (at - 1)), b(step, s.columns * part), form)
      end
      k:wgmma_commit_group()
    end

    -- Begins to load A's scales of the cursor's stage: two rows for each block of 64.
    local function load_a(from)
      local from_a = from + cursor.stage * s.stride
      for i = 0, #of_a - 1 do k:ld_shared_f32(of_a[i], from_a, { offset = 4 * (64 * (i // 2) + 8 * (i % 2)) }) end
    end

    -- Begins to load B's next scales, a block of K before they are needed: they come from the L2 cache. apart: added to their addresses.
    local function load_b(from_b, guard, apart)
      for i = 0, s.rows - 1 do
        k:ld_global_f32(next_of_b[i], apart and from_b[i] + apart or from_b[i], { guard = guard })
        k:add(from_b[i], from_b[i], 4)
      end
    end

    -- sums += products * scales, for one part of a block of 64 rows.
    local function add(at, part, of_segment)
      local factors = {}
      for r = 0, s.columns // 2 - 1 do
        local sum = part * s.columns // 2 + r
        local segment, half = 2 * sum // s.segment, r // 2 % 2
        local key = 2 * segment + half
        factors[key] = factors[key] or k:mul(of_a[2 * (at - 1) + half], of_segment(segment))
        k:fma(sums[at][sum], products[r], factors[key], sums[at][sum])
      end
    end

    -- The addresses of the first scales in the rows of B's scales that a piece touches; rows beyond the last one repeat it.
    local function rows_of_b(column, piece)
      local blocks, last = (sizes.K + (block - 1)) >> 7, (sizes.N - 1) >> 7
      local out = {}
      for i = 0, s.rows - 1 do
        local row = k:min((column >> 7) + i, last)
        local at = (piece.scales_first and row + piece.scales_first or row) * blocks
        out[i] = k:element(sizes.b_scales, piece.from == 0 and at or at + (piece.from >> 7))
      end
      return out
    end

    -- The way of a tile's sums through the blocks of K: begin() begins to multiply one, finish(product) multiplies what is left of it and
    -- adds all of it to the sums.
    local function blocks_of(piece, row, column)
      local from_a = p.groups and my_scales + ((row & 3) << 2) or my_scales
      local of_segment = of_segments(k, s, of_b, column & (block - 1))
      for at = 1, p.blocks do for r = 0, p.n // 2 - 1 do k:mov(sums[at][r], 0.0) end end
      local function begin()
        ring:wait(cursor)
        local a, b = given.operands(cursor.stage)
        load_a(from_a)
        for i = 0, s.rows - 1 do k:mov(of_b[i], next_of_b[i]) end
        multiply(1, 0, a, b)
        k:fence_proxy_async { space = "shared::cta" } -- the scales have been read: the next copy may overwrite them,
        k:bar_warp_sync(0xFFFFFFFF) -- once one lane has said so for its warp
        return { a = a, b = b }
      end
      local function finish(product)
        local function multiply_parts(parts)
          for at = 1, p.blocks do
            for part = 0, parts - 1 do
              if at > 1 or part > 0 then multiply(at, part, product.a, product.b) end
              k:wgmma_wait_group(0)
              if at == p.blocks and part == parts - 1 then ring:release(cursor, { lane = lane, cluster = p.cluster }) end
              add(at, part, of_segment)
            end
          end
        end
        if piece.narrow then
          k:if_(piece.narrow, function() multiply_parts(s.parts // 2) end, function() multiply_parts(s.parts) end)
        else
          multiply_parts(s.parts)
        end
        ring:advance(cursor)
      end
      return begin, finish
    end

    local function tile_by_itself(piece, place)
      local row, column = place()
      local from_b = rows_of_b(column, piece)
      local begin, finish = blocks_of(piece, row, column)
      load_b(from_b)
      k:loop({ from = piece.from, to = piece.to, step = block }, function(first_k)
        local product = begin()
        load_b(from_b, (first_k + block):lt(piece.to)) -- behind the fence, which waits for loads
        finish(product)
      end)
      return row, column
    end
    -- Three consumers hide what one of them does between two products. Their loop is 2 to 3 percent slower in the form that follows, of two
    -- it is 4 percent faster. With parts of K a CTA has few tiles to look ahead to.
    if p.groups or p.consumers == 3 or p.splits > 1 then return tile_by_itself end

    -- While the last block of a tile is multiplied, the place of the next one is computed, and the load of B's first scales there begins.
    local next_row, next_column, from_b = k:reg "u32", k:reg "u32", k:regs("u64", s.rows)
    -- Zero, which the assembler can't know. Scales that are the same in all lanes for it would move to uniform registers, and be awaited
    -- for that at once.
    local apart = k:cvt_u64_u32((thread >> 7) - 1 - given.number)
    local function look_ahead(place, piece)
      local row, column = place()
      k:mov(next_row, row)
      k:mov(next_column, column)
      local found = rows_of_b(column, piece)
      for i = 0, s.rows - 1 do k:mov(from_b[i], found[i]) end
      load_b(from_b, nil, apart)
    end
    local fresh = k:mov(1, { type = "u32" }) -- 0 once the CTA's first tile has begun
    return function(piece, place)
      k:if_(fresh:ne(0), function() look_ahead(place, piece) end)
      k:mov(fresh, 0)
      local row, column = k:mov(next_row, { type = "u32" }), k:mov(next_column, { type = "u32" })
      local begin, finish = blocks_of(piece, row, column)
      local left, product = piece.to - piece.from, nil
      k:while_(function()
        product = begin()
        return left:gt(block)
      end, function()
        k:sub(left, left, block)
        load_b(from_b, nil, apart)
        finish(product)
      end)
      look_ahead(piece.following())
      finish(product)
      return row, column
    end
  end
end
