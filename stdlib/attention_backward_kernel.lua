-- The kernel of wg.attention_backward, after FlashAttention-3 (Shah et al. 2024): dQ, dK and dV of O = softmax(Q K^T) V, with the
-- probabilities P computed anew from the scores and the rows' log-sum-exp. A CTA has a block of keys and passes over
-- the queries that see them. Each consumer warpgroup has 64 of the keys, and works on transposed products:
--
--   S^T = K Q^T,  dP^T = V dO^T,  P^T = exp(S^T - lse),  dS^T = P^T (dP^T - delta),  dV += P^T dO,  dK += dS^T Q
--
-- so that P^T and dS^T go from accumulators to the A operands of dV and dK in registers. dQ = dS K is a sum over keys: dS
-- of all consumers meets in shared memory, each consumer computes its share of dQ, and bulk copies add it to f32 sums
-- in global memory. The factor of the scores is applied to dQ and dK at their end.

return function(wg, internal)
  local function signed(k, x) return k:mov(x, { type = "s32" }) end

  -- The CTA's block of keys, and the blocks of queries that see one of them: from `first` to before `last`. The last
  -- query's place is that of the last key. A key is seen by the queries from low(key) to before high(key); both grow with it.
  -- `stride` is the number of blocks that each head has in the stats and sums.
  local function tile_of(k, p, sizes)
    local at = { head = k:special "ctaid.y", batch = k:special "ctaid.z", queries = sizes.queries, keys = sizes.keys } -- head of K and V
    local function blocks(rows) return k:div(rows + (p.rows - 1), p.rows) end
    at.key = k:special "ctaid.x" * p.keys
    if p.packed then
      at.query_start, at.queries = internal.attention_sequence(k, sizes.query_starts, at.batch)
      at.key_start, at.keys = internal.attention_sequence(k, sizes.key_starts, at.batch)
    end
    at.first, at.last = 0, blocks(at.queries)
    at.stride = p.packed and blocks(sizes.queries) or at.last
    local ahead = signed(k, at.keys - at.queries)
    local function block_of(query) return k:div(k:mov(k:max(query, 0), { type = "u32" }), p.rows) end
    if p.causal then
      at.low = function(key) return key - ahead end
    elseif p.window then
      at.low = function(key) return key - ahead - (p.window - 1) end
    end
    if at.low then at.first = block_of(at.low(signed(k, at.key))) end
    if p.window then
      at.high = function(key) return key - ahead + p.window end
      at.last = k:min(at.last, block_of(at.high(signed(k, at.key + (p.keys - 1))) + (p.rows - 1)))
    end
    return at
  end

  -- Calls body(block, head) for each block of queries that sees the tile, of each head that shares its K and V.
  local function each_block(k, p, at, body)
    local function of_head(head)
      k:loop({ from = at.first, to = at.last }, function(block) body(block, head) end)
    end
    if p.group == 1 then return of_head(at.head) end
    k:loop(p.group, function(i) of_head(at.head * p.group + i) end)
  end

  -- The number of a block of queries among those of all heads and batches.
  local function number_of(p, at, block, head) return (at.batch * p.heads + head) * at.stride + block end

  local function produce(k, p, rings, maps, buffers, at, stats)
    local copy = internal.attention_loader(k, p)
    local keys = rings.keys:expect(rings.keys:cursor(), 2 * p.k.bytes)
    local first_key = p.packed and at.key_start + at.key or at.key
    copy(p.k, k:address(buffers.k), maps.K, at, first_key, keys)
    copy(p.k, k:address(buffers.v), maps.V, at, first_key, keys)
    local query, gradient = rings.q:cursor(), rings.gradient:cursor()
    local q, gradients, rows = k:address(buffers.q), k:address(buffers.gradient), k:address(buffers.stats)
    each_block(k, p, at, function(block, head)
      local from, row = { batch = at.batch, head = head }, block * p.rows
      if p.packed then row = at.query_start + row end
      rings.q:acquire(query)
      copy(p.q, q + query.stage * p.q.bytes, maps.Q, from, row, rings.q:expect(query, p.q.bytes))
      rings.q:advance(query)
      rings.gradient:acquire(gradient)
      local barrier = rings.gradient:expect(gradient, p.q.bytes + p.stats_bytes)
      copy(p.q, gradients + gradient.stage * p.q.bytes, maps.dO, from, row, barrier)
      k:cp_async_bulk(rows + gradient.stage * p.stats_bytes, k:mad_wide_u32(number_of(p, at, block, head), p.stats_bytes, stats),
        p.stats_bytes, barrier)
      rings.gradient:advance(gradient)
    end)
  end

  -- The products of one consumer, each a commit group. Operands are views of buffers: bytes at an address, read as a tile.
  local function products(k, p, buffers, mine, acc)
    local function view(buffer, tile, offset)
      local base = k:matrix_descriptor(k:address(buffer, offset), tile:descriptor(0) & ~0x3FFF)
      return { tile = tile, base = base }
    end
    local function of_stage(from, stage)
      return { tile = from.tile, base = k:mad_wide_u32(stage, from.tile.bytes >> 4, from.base) }
    end
    local function at_step(from, step, row)
      local ahead = from.tile:descriptor(0, step, row or 0) - from.tile:descriptor(0, 0)
      return ahead == 0 and from.base or k:add(from.base, ahead)
    end
    local function multiply(d, a, b, form)
      form.k, form.d, form.a, form.b = 16, "f32", p.dtype, p.dtype
      k:wgmma_mma_async(d, a, b, form)
    end

    local of_mine = mine << 13 -- 64 lines of 128 bytes
    local keys = p.in_registers and {} or view(buffers.k, p.k, of_mine)
    local values = p.in_registers and {} or view(buffers.v, p.k, of_mine)
    local q, gradient = view(buffers.q, p.q), view(buffers.gradient, p.q)
    local q_columns, gradient_columns = view(buffers.q, p.q_columns), view(buffers.gradient, p.q_columns)
    local ds = view(buffers.ds, p.ds, not p.transposed and of_mine or nil)
    local key_columns = view(buffers.k, p.k_columns, p.transposed and mine * (128 * p.keys) or nil)

    -- The consumer's 64 keys times the queries (or rows of dO) of a part.
    local function by_rows(d, a, b, stage, part)
      local from = of_stage(b, stage)
      for step = 0, p.dim // 16 - 1 do
        local of_a = a.words and a.words:slice(4 * step, 4) or at_step(a, step)
        multiply(d, of_a, at_step(from, step, part * p.part),
          { n = p.part, scale_d = step == 0 and 0 or 1, trans_a = not a.words and 0 or nil, trans_b = 0 })
      end
      k:wgmma_commit_group()
    end
    -- Sums over the queries of a part.
    local function by_columns(d, words, b, stage, part)
      local from, steps = of_stage(b, stage), p.part // 16
      for step = 0, steps - 1 do
        multiply(d, words:slice(4 * step, 4), at_step(from, step + part * steps), { n = p.dim, scale_d = 1, trans_b = 1 })
      end
      k:wgmma_commit_group()
    end

    local out = {}
    -- Loads the consumer's keys and values into registers, as the A fragments of the products: lane i of a warp points
    -- ldmatrix to row i % 16, and to one of the two units of a K step.
    function out.load()
      local thread = k:special "tid.x"
      local row = ((thread >> 5 & 3) << 4) + (thread & 15)
      for _, name in ipairs { "k", "v" } do
        local operand = name == "k" and keys or values
        operand.words = k:regs("b32", p.dim // 4)
        local line = k:address(buffers[name], of_mine) + row * 128
        for step = 0, p.dim // 16 - 1 do
          local unit = ((thread >> 4 & 1) + 2 * step) ~ (thread & 7)
          k:ldmatrix_x4(operand.words:slice(4 * step, 4), line + (unit << 4), { trans = 0 })
        end
      end
    end
    function out.scores(stage, part) by_rows(acc.s, keys, q, stage, part) end
    function out.dp(stage, part) by_rows(acc.dp, values, gradient, stage, part) end
    function out.dv(stage, part) by_columns(acc.dv, acc.p16, gradient_columns, stage, part) end
    function out.dk(stage, part) by_columns(acc.dk, acc.ds16, q_columns, stage, part) end
    -- The consumer's share of dQ of a block: 64 rows, or transposed 64 columns.
    function out.dq(stage)
      local from = of_stage(ds, stage)
      for step = 0, p.keys // 16 - 1 do
        local first = step == 0 and 0 or 1
        if p.transposed then
          multiply(acc.dq, at_step(key_columns, step), at_step(from, step), { n = p.rows, scale_d = first, trans_a = 1, trans_b = 0 })
        else
          multiply(acc.dq, at_step(from, step), at_step(key_columns, step), { n = p.dim, scale_d = first, trans_a = 0, trans_b = 1 })
        end
      end
      k:wgmma_commit_group()
    end
    return out
  end

  -- Of register r: which of the thread's two keys it belongs to, and its query, counted from the thread's first one.
  local function half_of(r) return r // 2 % 2 end
  local function query_of(r) return 8 * (r // 4) + r % 2 end

  -- Sets scores of keys that their query does not see, and of keys after the last one, to -inf.
  local function masker(k, p, s, at, mine, lane)
    local first_query = signed(k, (lane & 3) << 1)
    local low, high = {}, {} -- of the thread's keys, counted from the thread's first query of block 0
    for half = 0, 1 do
      local key = at.key + (mine << 6) + ((k:special "tid.x" >> 5 & 3) << 4) + (lane >> 2) + 8 * half
      low[half] = at.low and at.low(signed(k, key)) - first_query or k:mov(-(1 << 30), { type = "s32" })
      k:mov(low[half], 1 << 30, { guard = key:ge(at.keys) })
      high[half] = at.high and at.high(signed(k, key)) - first_query
    end
    local over = (at.key + p.keys):gt(at.keys)
    local low_of_last = at.low and at.low(signed(k, at.key + (p.keys - 1)))
    local high_of_first = at.high and at.high(signed(k, at.key))
    return function(query)
      local from, needed = signed(k, query), over
      if at.low then needed = needed | from:lt(low_of_last) end
      if at.high then needed = needed | (from + p.part):gt(high_of_first) end
      k:if_(needed, function()
        for half = 0, 1 do
          local after, before = low[half] - from, at.high and high[half] - from
          for r = 2 * half, #s - 1, 4 do
            for i = r, r + 1 do
              k:mov(s[i], -math.huge, { guard = after:gt(query_of(i)) })
              if before then k:mov(s[i], -math.huge, { guard = before:le(query_of(i)) }) end
            end
          end
        end
      end)
    end
  end

  local function consume(k, p, rings, maps, buffers, at, sizes)
    local thread = k:special "tid.x"
    local lane, warp = thread & 31, thread >> 5 & 3
    local mine = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
    local leader = (thread & 127):eq(0)
    local acc = {
      s = k:regs("f32", p.part // 2), dp = k:regs("f32", p.part // 2), dk = k:regs("f32", p.dim // 2), dv = k:regs("f32", p.dim // 2),
      p16 = k:regs("b32", p.part // 4), ds16 = k:regs("b32", p.part // 4),
    }
    acc.dq = acc.dp -- whose values are used up by then
    -- The probabilities, and then dS. In the place of the scores, they would be accumulators that other instructions write
    -- from one product to the next, and ptxas (13.0) finds too few registers for that.
    local f32 = k:regs("f32", p.part // 2)
    local product = products(k, p, buffers, mine, acc)
    local mask = masker(k, p, acc.s, at, mine, lane)
    local convert = internal.to_output[p.dtype]
    local everyone, own = { threads = 128 * p.consumers }, { threads = 128 }
    local query, gradient = rings.q:cursor(), rings.gradient:cursor()
    local ds_stage = k:mov(0, { type = "u32" })
    local previous, any_previous = { stage = k:mov(0, { type = "u32" }) }, k:mov(0, { type = "u32" })

    -- Where the thread finds its queries' stats, and puts its pieces of dS and dQ. The pieces of dS are blocks of 8 keys x 8 queries,
    -- four for each stmatrix, whose lines in shared memory are queries.
    local stats_at = k:address(buffers.stats) + ((lane & 3) << 3)
    local line = k:address(buffers.ds, mine * (128 * p.rows)) + (((lane >> 4) << 3) + (lane & 7)) * 128
    local ds_at = line + ((((warp << 1) + (lane >> 3 & 1)) ~ (lane & 7)) << 4)
    local share = k:address(buffers.dq, mine * p.share_bytes)
    local dq_at = share + ((thread & 127) << 4)

    -- `stats` is where -lse * log2(e) of the part's queries stands.
    local function exponentials(stats)
      local pair = k:regs("f32", 2)
      for r = 0, #acc.s - 1, 4 do
        k:ld_shared_v2_f32(pair, stats, { offset = 4 * query_of(r) })
        for i = r, r + 3 do k:ex2_approx_ftz(f32[i], k:fma(acc.s[i], sizes.scale_log2, pair[i % 2])) end
      end
      for i = 0, #acc.p16 - 1 do k:mov(acc.p16[i], convert(k, f32[2 * i], f32[2 * i + 1])) end
    end
    local function gradients(stats)
      local pair = k:regs("f32", 2)
      for r = 0, #acc.s - 1, 4 do
        k:ld_shared_v2_f32(pair, stats, { offset = 4 * (p.rows + query_of(r)) })
        for i = r, r + 3 do k:mul(f32[i], f32[i], acc.dp[i] - pair[i % 2]) end
      end
      for i = 0, #acc.ds16 - 1 do k:mov(acc.ds16[i], convert(k, f32[2 * i], f32[2 * i + 1])) end
    end
    local function store_ds(part)
      local at_stage = ds_at + ds_stage * p.ds.bytes
      for i = 0, p.part // 16 - 1 do
        local words = { acc.ds16[4 * i], acc.ds16[4 * i + 1], acc.ds16[4 * i + 2], acc.ds16[4 * i + 3] }
        k:stmatrix_x4(at_stage, words, { trans = 1, offset = 128 * (p.part * part + 16 * i) })
      end
    end

    -- One part of a block: its scores are under way.
    local function work(part, first_query, stats)
      k:wgmma_fence()
      product.dp(gradient.stage, part)
      k:wgmma_wait_group(part == 0 and 1 or 2) -- the scores are complete; of part 0 also all before them
      if part == 0 then
        rings.q:release(previous, { lane = lane, guard = any_previous:ne(0) })
        k:mov(previous.stage, query.stage)
        k:mov(any_previous, 1)
      end
      mask(part == 0 and first_query or first_query + part * p.part)
      exponentials(part == 0 and stats or stats + 4 * p.part * part)
      k:wgmma_fence()
      product.dv(gradient.stage, part)
      k:wgmma_wait_group(1)
      gradients(part == 0 and stats or stats + 4 * p.part * part)
      if part < p.parts - 1 then
        k:wgmma_fence()
        product.scores(query.stage, part + 1)
      end
      store_ds(part)
      if part < p.parts - 1 then
        k:wgmma_fence()
        product.dk(query.stage, part)
      end
    end

    -- dQ of the block, as soon as dS of all consumers has arrived. Two stages of dS: who writes to one of them has met
    -- the others here since they read it.
    local function add_dq(number)
      k:fence_proxy_async { space = "shared::cta" }
      k:cp_async_bulk_wait_group(0, { read = true, guard = leader }) -- the copy of the last share has read it
      k:bar_sync(1, everyone)
      k:wgmma_fence()
      product.dq(ds_stage)
      product.dk(query.stage, p.parts - 1)
      k:wgmma_wait_group(1)
      rings.gradient:release(gradient, { lane = lane })
      for i = 0, #acc.dq // 4 - 1 do k:st_shared_v4_f32(dq_at, acc.dq:slice(4 * i, 4), { offset = 2048 * i }) end
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_sync(mine + 2, own)
      k:if_(leader, function()
        local to = k:mad_wide_u32(mine, p.share_bytes, k:mad_wide_u32(number, p.sums_bytes, sizes.sums))
        k:cp_reduce_async_bulk(to, share, p.share_bytes, { op = "add", type = "f32" })
        k:cp_async_bulk_commit_group()
      end)
      k:xor(ds_stage, ds_stage, 1)
    end

    for i = 0, #acc.dk - 1 do
      k:mov(acc.dk[i], 0.0)
      k:mov(acc.dv[i], 0.0)
    end
    rings.keys:wait(rings.keys:cursor())
    if p.in_registers then product.load() end
    each_block(k, p, at, function(block, head)
      rings.q:wait(query)
      k:wgmma_fence()
      product.scores(query.stage, 0)
      rings.gradient:wait(gradient)
      local stats = stats_at + gradient.stage * p.stats_bytes
      for part = 0, p.parts - 1 do work(part, block * p.rows, stats) end
      add_dq(number_of(p, at, block, head))
      rings.q:advance(query)
      rings.gradient:advance(gradient)
    end)
    k:wgmma_wait_group(0)

    if p.packed then
      local rows = { heads = p.kv_heads, head = at.head, first = at.key_start, count = at.keys }
      local row = at.key + (mine << 6) + ((warp << 4) + (lane >> 2))
      for r = 0, #acc.dk - 1 do k:mul(acc.dk[r], acc.dk[r], sizes.scale) end
      internal.attention_store_pairs(k, p, acc.dv, maps.dV, rows, row)
      internal.attention_store_pairs(k, p, acc.dk, maps.dK, rows, row)
      return k:cp_async_bulk_wait_group(0, { read = true, guard = leader })
    end
    k:bar_sync(1, everyone) -- before dV and dK take the places of V and K
    local place, bytes = internal.attention_place(p), p.panel.count * p.panel.bytes
    local function store(result, map, buffer, factor)
      local write = k:epilogue {
        panel = p.panel, map = map, buffer = buffer, offset = mine * bytes, buffers = p.panel.count, barrier = mine + 2, alpha = factor,
        place = function(column, row) return place(column, at, row) end,
      }
      write(result, at.key + (mine << 6), k:mov(0, { type = "u32" }))
    end
    store(acc.dv, maps.dV, buffers.v)
    store(acc.dk, maps.dK, buffers.k, sizes.scale)
    k:cp_async_bulk_wait_group(0, { read = true, guard = leader })
  end

  --- The kernel of a plan (of internal.attention_backward_plan); its CTAs are block of keys, head of K and V, and batch.
  function internal.attention_backward_kernel(p)
    return wg.kernel(p.name, { threads = p.threads }, function(k)
      local maps = {}
      for _, name in ipairs { "Q", "K", "V", "dO", "dK", "dV" } do
        local result = name == "dK" or name == "dV"
        local rows = result and 64 or (name == "K" or name == "V") and p.keys or p.rows
        maps[name] = result and p.packed and k:param(name, p.dtype .. "*") or internal.attention_map(k, p, name, rows, not result or nil)
      end
      local stats = k:param("stats", "const f32*")
      local sizes = {
        sums = k:param("sums", "f32*"), queries = k:param("queries", "u32"), keys = not p.packed and k:param("keys", "u32"),
        scale = k:param("scale", "f32"), scale_log2 = k:param("scale_log2", "f32"),
      }
      if p.packed then
        sizes.query_starts, sizes.key_starts = k:param("query_starts", "const s32*"), k:param("key_starts", "const s32*")
      end
      -- Bytes, not tiles: products read Q, K and dO along either extent.
      local function shared(name, bytes) return k:shared { bytes = bytes, align = 1024, name = name } end
      local buffers = {
        k = shared("K", p.k.bytes), v = shared("V", p.k.bytes), q = shared("Q", p.stages * p.q.bytes),
        gradient = shared("dO", p.stages * p.q.bytes), ds = shared("dS", 2 * p.ds.bytes), dq = shared("dQ", p.sums_bytes),
        stats = shared("stats", p.stages * p.stats_bytes),
      }
      local rings = {
        keys = k:pipeline { stages = 1, name = "keys" },
        q = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers, name = "query" },
        gradient = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers, name = "gradient" },
      }
      local thread = k:special "tid.x"
      k:if_(thread:eq(0), function()
        for _, name in ipairs { "K", "V", "Q", "dO", "dK", "dV" } do
          if maps[name].pointee == nil then k:prefetch_tensormap(maps[name]) end
        end
        for _, ring in ipairs { rings.keys, rings.q, rings.gradient } do ring:init() end
      end)
      k:bar_sync(0)
      local at = tile_of(k, p, sizes)
      -- Unless the block of keys lies beyond the end of a packed sequence.
      local function within(body)
        if p.packed then k:if_(at.key:lt(at.keys), body) else body() end
      end
      k:if_((thread >> 7):eq(0), function()
        k:setmaxnreg_dec(p.registers[1])
        k:if_(thread:eq(0), function() within(function() produce(k, p, rings, maps, buffers, at, stats) end) end)
      end, function()
        k:setmaxnreg_inc(p.registers[2])
        within(function() consume(k, p, rings, maps, buffers, at, sizes) end)
      end)
    end)
  end
end
