-- What comes before and after the kernel of wg.attention_backward, row by row. Before it: delta = the sum over a row of dO * O,
-- beside the row's log-sum-exp, and zeroes for dQ. After it: dQ from sums in f32 to the type of the tensor.

return function(wg, internal)
  local log2e = 1 / math.log(2)

  -- 16 bytes of a row for each lane: `lanes` lanes share a row, and the CTA has `rows_at_a_time`.
  local function load_rows(k, p, from, at, queries)
    local lanes = p.dim // 8
    local rows_at_a_time = 128 // lanes
    local thread, loaded = k:special "tid.x", {}
    local column, down = (thread & (lanes - 1)) << 3, k:div(thread, lanes)
    for turn = 0, p.rows // rows_at_a_time - 1 do
      local row = at.row + down + rows_at_a_time * turn
      local first = p.layout == "bshd" and (at.batch * queries + row) * p.heads + at.head or at.pair * queries + row
      local words = k:regs("b32", 4)
      for i = 0, 3 do k:mov(words[i], 0) end
      k:ld_global_v4_b32(words, k:mad_wide_u32(column, 2, k:mad_wide_u32(first, 2 * p.dim, from)), { guard = row:lt(queries) })
      loaded[turn] = words
    end
    return loaded
  end

  -- The sum of x * y over a row, in all of its lanes.
  local function dot(k, p, x, y)
    local sum, elements = k:mov(0.0, { type = "f32" }), internal.from_output[p.dtype]
    for i = 0, 3 do
      local x0, x1 = elements(k, x[i])
      local y0, y1 = elements(k, y[i])
      sum = k:fma(x1, y1, k:fma(x0, y0, sum))
    end
    local distance = 1
    while distance < p.dim // 8 do
      local other = k:reg "f32"
      k:shfl_sync_bfly_b32(other, sum, distance, 31)
      sum, distance = sum + other, 2 * distance
    end
    return sum
  end

  local function block_of(k, p)
    local at = { number = k:special "ctaid.x", head = k:special "ctaid.y", batch = k:special "ctaid.z" }
    at.pair = at.batch * p.heads + at.head
    at.row, at.block = at.number * p.rows, at.pair * k:special "nctaid.x" + at.number
    return at
  end

  --- The kernel that prepares a block of queries; its CTAs are block, head and batch.
  function internal.attention_backward_before(p)
    return wg.kernel(p.name .. "_before", { threads = 128 }, function(k)
      local O, dO = k:param("O", "const " .. p.dtype .. "*"), k:param("dO", "const " .. p.dtype .. "*")
      local lse, stats, sums = k:param("lse", "const f32*"), k:param("stats", "f32*"), k:param("sums", "f32*")
      local queries, thread, at = k:param("queries", "u32"), k:special "tid.x", block_of(k, p)
      local o, gradient = load_rows(k, p, O, at, queries), load_rows(k, p, dO, at, queries)

      local zero = k:regs("f32", 4)
      for i = 0, 3 do k:mov(zero[i], 0.0) end
      local mine = k:mad_wide_u32(thread, 16, k:mad_wide_u32(at.block, p.sums_bytes, sums))
      for i = 0, p.sums_bytes // 2048 - 1 do k:st_global_v4_f32(mine, zero, { offset = 2048 * i }) end

      local out, lanes = k:mad_wide_u32(at.block, p.stats_bytes, stats), p.dim // 8
      local first = (thread & (lanes - 1)):eq(0)
      local deltas = k:mad_wide_u32(k:div(thread, lanes), 4, out)
      for turn = 0, #o do
        k:st_global_f32(deltas, dot(k, p, o[turn], gradient[turn]), { offset = 4 * (p.rows + turn * (128 // lanes)), guard = first })
      end
      k:if_(thread:lt(p.rows), function()
        local row, logarithm = at.row + thread, k:mov(-math.huge, { type = "f32" })
        k:ld_global_f32(logarithm, k:element(lse, at.pair * queries + row), { guard = row:lt(queries) })
        -- Negative, so that it is added to the scores; -inf for rows that see nothing, whose probabilities are 0.
        local value = logarithm * -log2e
        k:mov(value, -math.huge, { guard = logarithm:eq(-math.huge) })
        k:st_global_f32(k:mad_wide_u32(thread, 4, out), value)
      end)
    end)
  end

  --- The kernel that converts dQ of a block; its CTAs are block, head and batch. The sums are in the order of the
  --- registers of the consumers that computed them.
  function internal.attention_backward_after(p)
    return wg.kernel(p.name .. "_after", { threads = 128 * p.consumers }, function(k)
      local place, panel = internal.attention_place(p), p.q_panel
      local dQ, sums, scale = internal.attention_map(k, p, "dQ", panel.lines), k:param("sums", "const f32*"), k:param("scale", "f32")
      local thread, at = k:special "tid.x", block_of(k, p)
      local mine = thread >> 7
      local from = k:mad_wide_u32(mine * p.share_bytes + ((thread & 127) << 4), 1, k:mad_wide_u32(at.block, p.sums_bytes, sums))
      local acc = k:regs("f32", p.share_bytes // 512)
      for i = 0, #acc // 4 - 1 do k:ld_global_v4_f32(acc:slice(4 * i, 4), from, { offset = 2048 * i }) end
      local bytes = panel.count * panel.bytes
      local store, finish = k:epilogue {
        panel = panel, map = dQ, buffer = k:shared { bytes = p.consumers * bytes, align = 1024, name = "dQ" }, offset = mine * bytes,
        buffers = panel.count, barrier = mine + 1, alpha = scale,
        place = function(column, row) return place(column, at, row) end,
      }
      -- Transposed, the consumer's accumulators are 64 columns of dQ times all rows.
      if p.transposed then store(acc, mine << 6, at.row) else store(acc, at.row + (mine << 6), k:mov(0, { type = "u32" })) end
      finish()
    end)
  end
end
