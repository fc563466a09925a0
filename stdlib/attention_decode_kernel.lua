-- The kernel of wg.attention_decode: few queries against long K and V, as FlashDecoding does it (Dao, Haziza et al. 2023). Memory is the
-- limit, so every SM has to read without a pause, and equally much.
--
-- Persistent CTAs share the keys equally (attention_decode_work). Loader warps keep a ring of blocks full, also across the ends of
-- pieces (attention_decode_copies). The queries of all heads that share K and V are packed into rows: 16 for each compute
-- warp, which multiplies them by its own slice of a block's keys with mma.sync. Warps with different keys need nothing from each
-- other until the piece ends and their sums are added up (attention_decode_finish).

return function(wg, internal)
  local function quad(k, x, f)
    for _, distance in ipairs { 1, 2 } do
      local other = k:reg "f32"
      k:shfl_sync_bfly_b32(other, x, distance, 31)
      x = f(k, x, other)
    end
    return x
  end

  -- The packed queries as operand A (PTX ISA 9.7.14.5.8, figure of the A fragment): registers 4 step + 2 (later eight columns) + half.
  -- Rows that are not used stay 0.
  local function query_loader(k, p, Q, rows, column)
    local q = k:regs("b32", p.dim // 4)
    for r = 0, #q - 1 do k:mov(q[r], 0) end
    return q, function(at)
      for half = 0, p.halves - 1 do
        local from = k:element(Q, (internal.attention_decode_place(k, p, at, rows[half].number)) + column)
        for r = half, #q - 1, 2 do k:ld_global_b32(q[r], from, { offset = 16 * (r // 2), guard = rows[half].number:lt(p.rows) }) end
      end
    end
  end

  -- The addresses that ldmatrix takes in a stage, for the 16 columns `unit` (0 to 3) of each panel: eight rows of 128 bytes, whose
  -- units lie in different banks by the swizzle. Scores want K as it is: lanes 8 to 15 give the next columns, lanes 16 to
  -- 31 the next eight keys. Values want V transposed: lanes 8 to 15 give the next keys.
  local function addresses(k, p, kv, warp)
    local lane, base = warp.lane, k:address(kv) + warp.key_group * (p.slice * 128)
    local in_eight = lane & 7
    local key_of_k, key_of_v = in_eight + ((lane >> 4) << 3), lane & 15
    local of_k, of_v = {}, {}
    for unit = 0, 3 do
      of_k[unit] = base + (key_of_k << 7) + (((((lane >> 3) & 1) + 2 * unit) ~ in_eight) << 4)
      of_v[unit] = base + (key_of_v << 7) + p.tile_bytes + ((((lane >> 4) + 2 * unit) ~ in_eight) << 4)
    end
    return function(stage)
      local k_at, v_at = {}, {}
      local ahead = stage * (2 * p.tile_bytes)
      for unit = 0, 3 do k_at[unit], v_at[unit] = of_k[unit] + ahead, of_v[unit] + ahead end
      return k_at, v_at
    end
  end

  -- The limits of what a warp sees of a block, where it does not see all of it. Keys count from the thread's first one.
  local function mask_of(k, p, at, block, rows, warp, column)
    local function signed(x) return k:mov(x, { type = "s32" }) end
    local first = signed(block * p.block + warp.key_group * p.slice + column)
    local length = signed(at.length) - first
    local mask = { length = length }
    for half = 0, p.halves - 1 do
      mask[half] = length
      if p.causal and p.queries > 1 then -- the last query sees all keys, the one before all but the last
        mask[half] = length - (p.queries - 1) + signed(internal.divided(k, rows[half].number, p.sharing))
      end
    end
    return mask
  end

  -- What a compute warp does with a block: step(at, block, masked). Scores are mma accumulators of 16 rows and 8 keys each: register
  -- 4 eight + 2 half + i is key 8 eight + column + i.
  local function stepper(k, p, q, acc, rows, warp, column, ring, kv, scale)
    local slices, steps = p.slice // 16, p.dim // 16
    local scores, probabilities = k:regs("f32", 8 * slices), k:regs("b32", 4 * slices)
    local zeros = k:regs("f32", 4)
    for i = 0, 3 do k:mov(zeros[i], 0.0) end
    for r = 0, #probabilities - 1 do k:mov(probabilities[r], 0) end -- those of unused rows stay so
    local form = { d = "f32", a = p.dtype, b = p.dtype, k = 16 }
    local cursor, at_stage = ring:cursor(), addresses(k, p, kv, warp)

    local function each_score(half, visit)
      for eight = 0, 2 * slices - 1 do
        for i = 0, 1 do visit(4 * eight + 2 * half + i, 8 * eight + i) end
      end
    end
    -- Calls visit(fragment, slice, step) for the 16 x 16 blocks of K or V, each two operands B of eight columns.
    local function each_fragment(load, from, visit)
      for step = 0, steps - 1 do
        for slice = 0, slices - 1 do
          visit(load(k, from[step % 4], { offset = step // 4 * p.block * 128 + slice * 16 * 128 }), slice, step)
        end
      end
    end

    local function score(k_at)
      each_fragment(k.ldmatrix_x4, k_at, function(b, slice, step)
        for eight = 0, 1 do
          local d = scores:slice(8 * slice + 4 * eight, 4)
          k:mma_sync(d, q:slice(4 * step, 4), b:slice(2 * eight, 2), step == 0 and zeros or d, form)
        end
      end)
    end

    -- Scores become probabilities relative to the running maximum; the sums so far shrink where that has grown.
    local function softmax()
      local shrink, grown = {}, nil
      for half = 0, p.halves - 1 do
        local own, top, sum = rows[half], nil, nil
        each_score(half, function(r) top = top and k:max(top, scores[r]) or scores[r] end)
        top = k:max(quad(k, top, k.max), own.maximum)
        local grows = top:gt(own.maximum)
        grown = grown and grown | grows or grows
        shrink[half] = k:ex2_approx_ftz((own.maximum - top) * scale)
        k:mov(own.maximum, top)
        local minus = k:neg(top * scale)
        each_score(half, function(r) k:ex2_approx_ftz(scores[r], k:fma(scores[r], scale, minus)) end)
        each_score(half, function(r) sum = sum and sum + scores[r] or scores[r] end)
        k:fma(own.sum, own.sum, shrink[half], sum)
        for r = half, #probabilities - 1, 2 do
          k:mov(probabilities[r], internal.to_output[p.dtype](k, scores[2 * r], scores[2 * r + 1]))
        end
      end
      k:if_(k:vote_sync_any_pred(grown), function()
        for r = 0, #acc - 1 do
          local half = r // 2 % 2
          if half < p.halves then k:mul(acc[r], acc[r], shrink[half]) end
        end
      end)
    end

    -- Behind the end of a sequence anything may lie in memory, and 0 times infinity is no number: V is cleared there.
    local function cleared(b, mask, slice)
      for i = 0, 3 do
        local key = 16 * slice + 8 * (i % 2)
        k["and"](k, b[i], b[i], k:selp_b32(0xFFFF, 0, mask.length:gt(key)) | k:selp_b32(0xFFFF0000, 0, mask.length:gt(key + 1)))
      end
    end

    local function add_values(v_at, mask)
      each_fragment(k.ldmatrix_x4_trans, v_at, function(b, slice, step)
        if mask then cleared(b, mask, slice) end
        for eight = 0, 1 do
          local d = acc:slice(8 * step + 4 * eight, 4)
          k:mma_sync(d, probabilities:slice(4 * slice, 4), b:slice(2 * eight, 2), d, form)
        end
      end)
    end

    return function(at, block, masked)
      ring:wait(cursor)
      local k_at, v_at = at_stage(cursor.stage)
      score(k_at)
      local mask = masked and mask_of(k, p, at, block, rows, warp, column)
      if mask then
        for half = 0, p.halves - 1 do
          each_score(half, function(r, key) k:mov(scores[r], -math.huge, { guard = mask[half]:le(key) }) end)
        end
      end
      softmax()
      add_values(v_at, mask)
      if p.copies == "boxes" then k:fence_proxy_async { space = "shared::cta" } end -- TMA's next copies come after these reads
      k:bar_warp_sync()
      ring:release(cursor, { lane = warp.lane })
      ring:advance(cursor)
    end
  end

  local function compute(k, p, sizes, buffers, ring, work, warp)
    local row_group = internal.divided(k, warp.number, p.key_groups)
    warp.key_group = warp.number - row_group * p.key_groups
    local column, rows, scale = (warp.lane & 3) << 1, {}, sizes.scale_log2
    for half = 0, p.halves - 1 do
      local own = { number = (row_group << 4) + (warp.lane >> 2) + 8 * half, maximum = k:reg "f32", sum = k:reg "f32" }
      own.top = function() return own.maximum * scale end
      own.whole_sum = function() return quad(k, own.sum, k.add) end
      rows[half] = own
    end
    local acc = k:regs("f32", p.dim // 2)
    local q, load_queries = query_loader(k, p, sizes.Q, rows, column)
    local step = stepper(k, p, q, acc, rows, warp, column, ring, buffers.kv, scale)
    local pieces = internal.attention_decode_finish(k, p, sizes, buffers, work, acc, rows, warp)

    work.each_piece(function(at, count)
      load_queries(at)
      local piece = pieces.begin(at, count)
      for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end
      for half = 0, p.halves - 1 do
        k:mov(rows[half].maximum, internal.attention_decode_nothing)
        k:mov(rows[half].sum, 0.0)
      end
      local block, to = k:mov(at.block, { type = "u32" }), at.block + count
      -- Blocks that all queries see completely need no mask.
      local hidden = p.causal and p.queries - 1 or 0
      local clear = k:min(internal.divided(k, k:max(at.length, hidden) - hidden, p.block), to)
      for _, masked in ipairs { false, true } do
        k:while_(function() return block:lt(masked and to or clear) end, function()
          k:if_((block + 1):eq(to), function() pieces.look(piece, at) end)
          step(at, block, masked)
          k:add(block, block, 1)
        end)
      end
      pieces.finish(piece, at)
    end)
  end

  local function parameters(k, p)
    local function pointer(name, kind, constant) return k:param(name, (constant and "const " or "") .. kind .. "*") end
    local sizes = { Q = pointer("Q", p.dtype, true) }
    for _, name in ipairs { "K", "V" } do
      if p.copies == "rows" then
        sizes[name] = pointer(name, p.dtype, true)
      else
        sizes.maps = sizes.maps or {}
        local box = p.layout == "bshd" and { 64, 1, p.box_rows, 1 } or { 64, p.box_rows, 1, 1 }
        sizes.maps[name] = k:tensor_map(name, { dtype = p.dtype, box = box, swizzle = "128B", constant = true })
      end
    end
    sizes.O = pointer("O", p.dtype)
    if p.lse then sizes.lse = pointer("lse", "f32") end
    sizes.lengths = pointer("lengths", "s32", true)
    if p.page then sizes.pages, sizes.table_width = pointer("pages", "s32", true), k:param("table_width", "u32") end
    for _, name in ipairs { "keys", "batches", "together" } do sizes[name] = k:param(name, "u32") end
    sizes.scale_log2 = k:param("scale_log2", "f32")
    sizes.partials, sizes.part_sums, sizes.counters = pointer("partials", "f32"), pointer("part_sums", "f32"), pointer("counters", "u32")
    return sizes
  end

  --- The kernel of a plan (of internal.attention_decode_plan).
  function internal.attention_decode_kernel(p)
    local kernel = wg.kernel(p.name, { threads = p.threads }, function(k)
      local sizes = parameters(k, p)
      local buffers = {
        kv = k:shared { bytes = p.stages * 2 * p.tile_bytes, align = 1024, name = "kv" },
        exchange = k:shared { bytes = p.exchange_bytes, align = 16, name = "exchange" },
        sums = k:shared { bytes = p.sums_bytes, align = 8, name = "sums" },
        flags = k:shared { bytes = 8, align = 4, name = "flags" },
      }
      local ring = k:pipeline { stages = p.stages, arrivals = p.warps, producers = internal.attention_decode_producers(p) }
      local thread = k:special "tid.x"
      local warp = { lane = thread & 31, number = k:reg "u32" }
      k:shfl_sync_idx_b32(warp.number, thread >> 5, 0, 31)
      k:if_(thread:eq(0), function()
        for _, name in ipairs { "K", "V" } do
          if sizes.maps then k:prefetch_tensormap(sizes.maps[name]) end
        end
        ring:init()
      end)
      -- The next grid of the stream may start now, as this one may have before the previous grid's results were there.
      k:griddepcontrol_launch_dependents()
      local work = internal.attention_decode_work(k, p, sizes, warp.lane)
      k:bar_sync(0)
      k:if_(warp.number:lt(p.warps), function()
        compute(k, p, sizes, buffers, ring, work, warp)
      end, function()
        internal.attention_decode_copies(k, p, sizes, ring, buffers.kv, work, thread - 32 * p.warps)
      end)
    end)
    kernel:launch_rule { notes = {
      pages = p.page and ("%d keys each, for each sequence table_width numbers of pages"):format(p.page) or nil,
      keys = "the most keys that a sequence can have", scale_log2 = "the factor of the scores times log2(e)",
      together = ("heads of K and V that CTAs side by side work on: divides %d"):format(p.kv_heads),
      partials = ("%d elements for each CTA of the grid"):format(2 * p.rows * p.dim),
      part_sums = ("%d elements for each CTA of the grid"):format(4 * p.rows),
      counters = ("%d for each sequence, zeros before the first launch"):format(p.kv_heads),
    } }
    return kernel
  end
end
