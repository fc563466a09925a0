-- A consumer of wg.attention_backward for heads of more than 128 elements, whose dK and dV of 64 keys don't fit into the registers of one
-- warpgroup: it has half of their columns, and of dQ's. Each consumer computes the scores of half of a block's queries, and P^T and
-- dS^T of both halves meet in shared memory. Bytes of dS^T, keys x queries, are A of dK and, transposed, A of dQ.

return function(_, internal)
  -- The products of one consumer, each a commit group.
  local function products(k, p, buffers, mine, acc)
    local operands = internal.attention_backward_operands(k, p)
    local view, of_stage, at_step, multiply = operands.view, operands.of_stage, operands.at_step, operands.multiply
    local keys, values = view(buffers.k, p.k), view(buffers.v, p.k)
    local half_of_queries = k:mul(mine, p.part * p.q_lines.line_bytes)
    local q, gradient = view(buffers.q, p.q, half_of_queries), view(buffers.gradient, p.q, half_of_queries)
    local half_of_columns = k:mul(mine, p.dim * p.rows) -- of each of 64 lines, in bytes
    local q_columns, gradient_columns = view(buffers.q, p.q_columns, half_of_columns), view(buffers.gradient, p.q_columns, half_of_columns)
    local key_columns = view(buffers.k, p.k_columns, half_of_columns)
    local probabilities, ds, ds_columns = view(buffers.p, p.ds), view(buffers.ds, p.ds), view(buffers.ds, p.ds_columns)

    local function product(d, a, b, steps, form)
      for step = 0, steps - 1 do
        multiply(d, at_step(a, step), at_step(b, step), {
          n = form.n, scale_d = step == 0 and form.fresh and 0 or 1, trans_a = form.trans_a or 0, trans_b = form.trans_b or 0,
        })
      end
      k:wgmma_commit_group()
    end
    local of_columns, half = p.rows // 16, p.dim // 2
    local out = {}
    function out.scores(stage) product(acc.s, keys, of_stage(q, stage), p.dim // 16, { n = p.part, fresh = true }) end
    function out.dp(stage) product(acc.dp, values, of_stage(gradient, stage), p.dim // 16, { n = p.part, fresh = true }) end
    function out.dv(from, stage) product(acc.dv, of_stage(probabilities, from), of_stage(gradient_columns, stage), of_columns, { n = half, trans_b = 1 }) end
    function out.dk(from, stage) product(acc.dk, of_stage(ds, from), of_stage(q_columns, stage), of_columns, { n = half, trans_b = 1 }) end
    function out.dq(from) product(acc.dq, of_stage(ds_columns, from), key_columns, p.keys // 16, { n = half, fresh = true, trans_a = 1, trans_b = 1 }) end
    return out
  end

  --- The role of a consumer.
  function internal.attention_backward_wide(k, p, rings, maps, buffers, at, sizes)
    local thread = k:special "tid.x"
    local lane, warp = thread & 31, thread >> 5 & 3
    local mine = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
    local half = p.dim // 2
    local acc = {
      s = k:regs("f32", p.part // 2), dp = k:regs("f32", p.part // 2), dk = k:regs("f32", half // 2), dv = k:regs("f32", half // 2), dq = k:regs("f32", half // 2),
      p16 = k:regs("b32", p.part // 4), ds16 = k:regs("b32", p.part // 4),
    }
    local product = products(k, p, buffers, mine, acc)
    local mask = internal.attention_backward_masker(k, p, acc.s, at, at.key)
    local exponentials, gradients = internal.attention_backward_elements(k, p, acc, sizes.scale_log2)
    local add = internal.attention_backward_adder(k, p, sizes.sums, mine)
    local query, gradient = rings.q:cursor(), rings.gradient:cursor()
    local stage = k:mov(0, { type = "u32" }) -- of P and dS
    local previous, any_previous = { stage = k:mov(0, { type = "u32" }) }, k:mov(0, { type = "u32" })

    -- Where the thread finds its queries' stats, and puts its pieces of P^T and dS^T: blocks of 8 x 8, four for each stmatrix, whose lines
    -- in shared memory are keys of 64 queries.
    local stats_at = k:address(buffers.stats, mine * (4 * p.part)) + ((lane & 3) << 3)
    local in_tile = ((warp << 4) + (lane & 15)) * 128 + (((((mine << 2) + (lane >> 4)) ~ (lane & 7))) << 4)
    local function store(buffer, words)
      local to = k:address(buffer) + stage * p.ds.bytes + in_tile
      for i = 0, #words // 4 - 1 do k:stmatrix_x4(i == 0 and to or to ~ (2 * i << 4), words:slice(4 * i, 4)) end
    end

    for i = 0, #acc.dk - 1 do
      k:mov(acc.dk[i], 0.0)
      k:mov(acc.dv[i], 0.0)
    end
    rings.keys:wait(rings.keys:cursor())
    internal.attention_backward_each(k, p, at, function(block, head)
      rings.q:wait(query)
      k:wgmma_fence()
      product.scores(query.stage)
      rings.gradient:wait(gradient)
      local stats = stats_at + gradient.stage * p.stats_bytes
      k:wgmma_fence()
      product.dp(gradient.stage)
      k:wgmma_wait_group(1) -- the scores are complete, and dK of the block before
      rings.q:release(previous, { lane = lane, guard = any_previous:ne(0) })
      k:mov(previous.stage, query.stage)
      k:mov(any_previous, 1)
      mask(block * p.rows + mine * p.part)
      exponentials(stats)
      store(buffers.p, acc.p16)
      k:wgmma_wait_group(0)
      gradients(stats)
      store(buffers.ds, acc.ds16)

      -- Two stages of P and dS: who writes to one of them has met the other consumer here since that one read it.
      k:fence_proxy_async { space = "shared::cta" }
      k:bar_sync(1, { threads = 128 * p.consumers })
      k:wgmma_fence()
      product.dv(stage, gradient.stage)
      product.dq(stage)
      product.dk(stage, query.stage)
      k:wgmma_wait_group(1)
      rings.gradient:release(gradient, { lane = lane })
      add(acc.dq, internal.attention_backward_number(p, at, block, head))
      k:xor(stage, stage, 1)
      rings.q:advance(query)
      rings.gradient:advance(gradient)
    end)
    k:wgmma_wait_group(0)
    internal.attention_backward_store(k, p, acc, maps, buffers, at, sizes.scale, mine, at.key, mine * half)
  end
end
