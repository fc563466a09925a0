-- The kernel of wg.attention, after FlashAttention (Dao 2022; Shah et al. 2024 for Hopper): O = softmax(Q K^T) V in one pass over the
-- keys. A producer thread copies blocks of K and V by TMA. Each consumer warpgroup holds 64 queries: it computes the scores
-- of the next block while the product of this block's probabilities with V still runs, and the warpgroups take turns
-- to issue their products, so that the tensor core is busy while the others compute exponentials.

return function(wg, internal)
  local function produce(k, p, rings, maps, buffers, queue, find)
    local load = internal.attention_loader(k, p)
    local function loader(ring, tile, map, base)
      local cursor = ring:cursor()
      return function(at, row)
        ring:acquire(cursor)
        local barrier, to = ring:expect(cursor, tile.bytes), base + cursor.stage * tile.bytes
        load(tile, to, map, at, row, barrier)
        ring:advance(cursor)
      end
    end
    local load_q = loader(rings.q, p.q, maps.Q, k:address(buffers.q))
    local load_k = loader(rings.k, p.k, maps.K, k:address(buffers.k))
    local load_v = p.narrow and loader(rings.raw, p.raw, maps.V, k:address(buffers.raw)) or loader(rings.v, p.v, maps.V, k:address(buffers.v))

    queue:draw(function(number)
      find(number, function(x) return x end, function(at)
        local group = p.heads // p.kv_heads
        local kv = { batch = at.batch, head = internal.divided(k, at.head, group) }
        local key = k:mov(at.key_start + at.last * p.block, { type = "u32" })
        load_k(kv, key)
        for c = 0, p.consumers - 1 do load_q(at, at.row + at.query_start + 64 * c) end
        k:loop({ from = at.first, to = at.last }, function()
          local before = key - p.block
          if p.narrow then load_v(kv, key) end -- it is transposed before it is needed
          load_k(kv, before)
          if not p.narrow then load_v(kv, key) end
          k:mov(key, before)
        end)
        load_v(kv, key)
      end)
    end)
  end

  -- The products of one consumer: scores = Q * K^T of a stage, and acc += P * V of a stage, each as a commit group.
  local function products(k, p, buffers, scores, probabilities, acc)
    local q, kk, v = k:descriptor(buffers.q), k:descriptor(buffers.k), k:descriptor(buffers.v)
    local function of_stage(tile, base, cursor) return k:mad_wide_u32(cursor.stage, tile.bytes >> 4, base) end
    local function at_step(tile, base, step, row)
      local ahead = tile:descriptor(0, step, row or 0) - tile:descriptor(0, 0)
      return ahead == 0 and base or k:add(base, ahead)
    end
    -- trans: for 16-bit types; 8-bit operands have K contiguous.
    local function form(n, scale_d, trans)
      local out = { n = n, k = p.k_step, d = "f32", a = p.dtype, b = p.dtype, scale_d = scale_d }
      for key, value in pairs(p.narrow and {} or trans) do out[key] = value end
      return out
    end
    local function score(query_cursor, key_cursor)
      local a, b = of_stage(p.q, q, query_cursor), of_stage(p.k, kk, key_cursor)
      k:wgmma_fence()
      for step = 0, p.dim // p.k_step - 1 do
        k:wgmma_mma_async(scores, at_step(p.q, a, step), at_step(p.k, b, step),
          form(p.block, step == 0 and 0 or 1, { trans_a = 0, trans_b = 0 }))
      end
      k:wgmma_commit_group()
    end
    local columns = p.dim + p.ones -- of V and of ones: one product, or two where they are more than 256
    local parts = columns <= 256 and { { 0, columns } } or { { 0, 128 }, { 128, columns - 128 } }
    local function weigh(value_cursor)
      local b = of_stage(p.v, v, value_cursor)
      k:wgmma_fence()
      for step = 0, p.block // p.k_step - 1 do
        local words = probabilities:slice(4 * step, 4)
        for _, part in ipairs(parts) do
          local from, n = part[1], part[2]
          k:wgmma_mma_async(acc:slice(from // 2, n // 2), words, at_step(p.v, b, step, from), form(n, 1, { trans_b = 1 }))
        end
      end
      k:wgmma_commit_group()
    end
    return score, weigh
  end

  -- The warps that transpose V of 8-bit types.
  local function transpose(k, p, rings, buffers, queue, find)
    local function same(x) return internal.same_in_lanes(k, x) end
    internal.transpose_values(k, p, rings, buffers, same(k:special "tid.x" >> 5) - (4 - p.transposers), function(body)
      queue:each(function(number)
        find(number, same, function(at) k:loop({ from = at.first, to = at.last + 1 }, body) end)
      end)
    end)
  end

  -- The probabilities of 16-bit types as words of A: first() makes those of a tile's first block. Of later blocks, early() makes the exponentials
  -- while the product with V runs, and late() packs them after it.
  local function weights_of(k, p, soft, scores, words, acc)
    local convert, rescale = internal.to_output[p.dtype], nil
    local function pack()
      for i = 0, #words - 1 do k:mov(words[i], convert(k, scores[2 * i], scores[2 * i + 1])) end
    end
    return {
      first = function()
        soft:first()
        pack()
      end,
      early = function() rescale = soft:next() end,
      late = function()
        rescale(acc)
        pack()
      end,
    }
  end

  local function consume(k, p, rings, maps, buffers, queue, find, sizes)
    local thread = k:special "tid.x"
    local lane = thread & 31
    local mine = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
    local leader = (thread & 127):eq(0)
    local scores, acc = k:regs("f32", p.block // 2), k:regs("f32", (p.dim + p.ones) // 2)
    local probabilities = k:regs("b32", 4 * p.block // p.k_step)
    local score, weigh = products(k, p, buffers, scores, probabilities, acc)
    local factors = internal.attention_factors(k, p, sizes)
    local soft = k:softmax { scores = scores, scale = factors.scale, empty = p.causal or p.packed or p.window ~= nil, lift = p.lift }
    local weights = (p.narrow and internal.attention_narrow_weights or weights_of)(k, p, soft, scores, probabilities, acc)
    local turns = k:turns { members = p.consumers, member = mine, barrier = 1 }
    local query, key, value = rings.q:cursor(), rings.k:cursor(), rings.v:cursor()
    k:mov(query.stage, mine) -- stages of the queries: one for each consumer, then those of the next tile

    local function release_values()
      rings.v:release(value, { lane = lane })
      rings.v:advance(value)
    end
    -- Goes on from the keys of `block`, whose scores are under way, and returns what gives their stage back. Of 8-bit types, whose products
    -- are short, it also waits for the next keys, while these scores are computed.
    local function next_keys(block, at)
      local scored = { stage = k:mov(key.stage, { type = "u32" }) }
      rings.k:advance(key)
      if p.narrow then k:if_(block:gt(at.first), function() rings.k:wait(key) end) end
      return function() rings.k:release(scored, { lane = lane }) end
    end
    local function cap()
      if not p.softcap then return end
      for r = 0, #scores - 1 do k:tanh_approx(scores[r], scores[r] * factors.cap) end
    end

    -- A stage of the queries, in which O is stored, is free once the copy of O has read it. With two stages the copy has the
    -- time of the next tile's first block. Where O has panels of its own, each warp frees the queries after its last scores.
    local stored = p.query_stages > 1 and not p.narrow and { stage = k:reg "u32" } or nil
    local any_stored = stored and k:mov(0, { type = "u32" })
    if stored then k:mov(stored.stage, 0) end
    local function free_queries(cursor, guard)
      k:cp_async_bulk_wait_group(0, { read = true, guard = leader })
      k:mbarrier_arrive(rings.q:empty_barrier(cursor), { guard = guard and leader & guard or leader })
    end

    local function store(at, row)
      local first_row = at.row + (mine << 6)
      if p.packed then
        internal.attention_store_pairs(k, p, acc:slice(0, p.dim // 2), maps.O, { heads = p.heads, head = at.head, first = at.query_start, count = at.queries }, row)
        if p.narrow then return end
        -- All warps have read the queries: their scores are complete.
        k:bar_sync(mine + (1 + p.consumers), { threads = 128 })
        return k:mbarrier_arrive(rings.q:empty_barrier(query), { guard = leader })
      end
      local place = internal.attention_place(p)
      local write = k:epilogue {
        panel = p.panel, map = maps.O, buffer = p.narrow and buffers.o or buffers.q, buffers = p.panels,
        offset = p.narrow and mine * (p.panels * p.panel.bytes) or query.stage * p.q.bytes,
        barrier = mine + (1 + p.consumers), place = function(column, down) return place(column, at, down) end,
      }
      write(acc:slice(0, p.dim // 2), first_row, k:mov(0, { type = "u32" }))
      if p.narrow then return end
      if not stored then return free_queries(query) end
      k:mov(stored.stage, query.stage)
      k:mov(any_stored, 1)
    end

    local function store_lse(at, row, logarithm)
      for half = 0, 1 do
        local inside = row + 8 * half
        local place = p.packed and at.head * sizes.total + at.query_start + inside or (at.batch * p.heads + at.head) * sizes.queries + inside
        k:st_global_f32(k:element(sizes.lse, place), logarithm[half], { guard = (lane & 3):eq(0) & inside:lt(at.queries) })
      end
    end

    local function attend(at)
      local mask = internal.attention_masker(k, p, scores, at, mine, lane)
      local value_factor = factors.load(at)
      local block = k:mov(at.last, { type = "u32" })
      rings.q:wait(query)
      rings.k:wait(key)
      turns:take()
      score(query, key)
      turns:pass()
      local release_keys = next_keys(block, at)
      for i = 0, #acc - 1 do k:mov(acc[i], 0.0) end
      k:wgmma_wait_group(0)
      release_keys()
      cap()
      mask(block)
      weights.first()
      if stored and not p.packed then free_queries(stored, any_stored:ne(0)) end

      -- The scores of one more block, while the probabilities of the block before are multiplied with V.
      local function step(masked)
        k:sub(block, block, 1)
        if not p.narrow then rings.k:wait(key) end
        turns:take()
        score(query, key)
        rings.v:wait(value)
        weigh(value)
        turns:pass()
        local release_scored = next_keys(block, at)
        k:wgmma_wait_group(1)
        release_scored()
        cap()
        if masked then mask(block) end
        weights.early()
        k:wgmma_wait_group(0)
        release_values()
        weights.late()
      end
      local function steps_to(limit, masked) k:while_(function() return block:gt(limit) end, function() step(masked) end) end
      if at.clear_to then steps_to(p.window and k:max(at.clear_to, at.first) or at.clear_to, true) end
      steps_to(p.window and k:max(at.clear_from, at.first) or at.first, false)
      if p.window then steps_to(at.first, true) end

      if p.narrow then rings.q:release(query, { lane = lane }) end
      rings.v:wait(value)
      weigh(value)
      local inverse, logarithm
      if not weights.finish then inverse, logarithm = soft:finish() end -- overlaps with the last product
      local row = (mine << 6) + (((thread >> 5 & 3) << 4) + (lane >> 2)) + at.row
      if p.lse then store_lse(at, row, logarithm) end
      k:wgmma_wait_group(0)
      release_values()
      if weights.finish then inverse = weights.finish() end
      if value_factor then
        for half = 0, 1 do inverse[half] = inverse[half] * value_factor end
      end
      k:fragment(acc):map(function(x, here) return x * inverse[here.half] end)
      store(at, row)
      rings.q:skip(query, p.consumers)
    end

    queue:each(function(number) find(number, function(x) return internal.same_in_lanes(k, x) end, attend) end)
    turns:finish()
    if not p.packed then k:cp_async_bulk_wait_group(0, { read = true, guard = leader }) end
  end

  --- The kernel of a plan (of internal.attention_plan).
  function internal.attention_kernel(p)
    local kernel = wg.kernel(p.name, { threads = p.threads }, function(k)
      local function read(name, rows) return internal.attention_map(k, p, name, rows, true, p.lines) end
      local maps = {
        Q = read("Q", 64), K = read("K", p.block), V = read("V", p.block),
        O = p.packed and k:param("O", p.o .. "*") or internal.attention_map(k, p, "O", 64),
      }
      local sizes = {
        lse = p.lse and k:param("lse", "f32*"), queries = k:param("queries", "u32"), keys = not p.packed and k:param("keys", "u32"),
        batches = k:param("batches", "u32"), scale = k:param("scale", "f32"), cap = p.softcap and k:param("cap", "f32"),
        group = p.causal and k:param("group", "u32"),
      }
      if p.packed then
        sizes.query_starts, sizes.key_starts = k:param("query_starts", "const s32*"), k:param("key_starts", "const s32*")
        sizes.total = p.lse and k:param("total", "u32")
      end
      if p.descale then
        for _, name in ipairs { "q_descale", "k_descale", "v_descale" } do sizes[name] = k:param(name, "const f32*") end
      end
      local counter = k:param("counter", "u32*")
      local buffers = {
        q = k:shared { tile = p.q, count = p.query_stages * p.consumers, name = "Q" },
        k = k:shared { tile = p.k, count = p.stages, name = "K" },
        v = k:shared { tile = p.v, count = p.stages, name = "V" },
      }
      local readers = 4 * p.consumers
      local rings = {
        q = k:pipeline { stages = p.query_stages * p.consumers, arrivals = p.narrow and 4 or 1, name = "query" },
        k = k:pipeline { stages = p.stages, arrivals = readers, name = "key" },
        v = k:pipeline { stages = p.stages, arrivals = readers, producers = p.narrow and p.transposers or 1, name = "value" },
      }
      if p.narrow then
        buffers.raw = k:shared { tile = p.raw, count = p.stages, name = "raw_V" }
        buffers.o = not p.packed and k:shared { bytes = p.panels * p.consumers * p.panel.bytes, align = p.panel.align, name = "O" }
        rings.raw = k:pipeline { stages = p.stages, arrivals = p.transposers, name = "raw_value" }
      end
      local find, tiles = internal.attention_tiles(k, p, sizes)
      local queue = k:queue { counter = counter, tiles = tiles, readers = readers + p.transposers }

      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function()
        for _, name in ipairs { "Q", "K", "V", "O" } do
          if maps[name].pointee == nil then k:prefetch_tensormap(maps[name]) end
        end
        for _, ring in ipairs { rings.q, rings.k, rings.v, queue, rings.raw } do ring:init() end
      end)
      internal.attention_ones(k, p, buffers.v)
      k:bar_sync(0)
      k:if_((thread >> 7):eq(0), function()
        k:setmaxnreg_dec(p.registers[1])
        k:if_(thread:eq(0), function() produce(k, p, rings, maps, buffers, queue, find) end)
        if p.narrow then
          k:if_((thread >> 5):ge(4 - p.transposers), function() transpose(k, p, rings, buffers, queue, find) end)
        end
      end, function()
        k:setmaxnreg_inc(p.registers[2])
        consume(k, p, rings, maps, buffers, queue, find, sizes)
      end)
    end)
    kernel:launch_rule { notes = {
      scale = "the factor of the scores times log2(e)", counter = "one element, 0 before the launch and after it",
      group = p.causal and "pairs of batch and head whose K and V share the L2 cache" or nil,
    } }
    return kernel
  end
end
