-- What wg.attention does for 8-bit elements only: V is transposed, probabilities are packed at once, and factors scale the tensors.
--
-- wgmma takes B of 8-bit types with K contiguous (PTX ISA 9.7.15.5.1), which are the keys in P * V. Warps of their own turn blocks of V,
-- keys x dim as TMA brings them, into dim x keys; ldmatrix with .trans does so for pairs of elements.
--
-- P must not leave its registers: four neighbours of a row in the fragment of A belong to one thread, which has pairs of
-- columns 8 apart in the accumulators of the scores. Nothing has to move if the keys of P and of V are put into another
-- order, the same for both: place 4 t + 2 j + e of 16 has key 8 j + 2 t + e (t below 4; j and e below 2). In this
-- order two 8 x 8 matrices of ldmatrix.trans have them, too. PTX ISA 9.7.15.5.1, figures of the fragments A and D.

return function(internal)
  -- Addresses of 16-byte units of a K-major tile: units(stage) returns at(unit, ahead), which returns an address and an offset, for the unit
  -- `unit + more` of the line `line`, and `ahead` lines further down. `line` and `more` are registers, `more` is less than the
  -- number that `unit` is a multiple of (nil: 0), and `ahead` is a multiple of 8, the period of the swizzle.
  local function units_of(k, tile, base, line, more)
    local bytes = tile.atom_k -- of a line of a panel
    local units = bytes >> 4
    local turn = bytes == 128 and line & 7 or bytes == 64 and line >> 1 & 3 or line >> 2 & 1
    local in_stage = base + (line * bytes + ((more and turn ~ more or turn) << 4))
    return function(stage)
      local known = { [0] = in_stage + stage * tile.bytes }
      return function(unit, ahead)
        local inside = unit % units
        known[inside] = known[inside] or known[0] ~ (inside << 4)
        return known[inside], (unit // units * tile.mn + ahead) * bytes
      end
    end
  end

  -- The four scores whose exponentials word i of A has, with the keys in the order above: all of the thread's row i % 2.
  local function scores_of(i)
    local r = 16 * (i // 4) + 8 * (i // 2 % 2) + 2 * (i % 2)
    return { r, r + 1, r + 4, r + 5 }
  end

  -- A byte of e4m3 stands for 2^e (1 + m / 8), where 8 (e + 7) + m is its code. So 8 (x + 7) is nearly the code of 2^x (Schraudolph 1999): it has 1 + f in
  -- place of 2^f for the fraction f of x, up to 6 percent too much. With less by `balance` the error is 0 in the mean, and 0.018 in the root of
  -- the mean square, where rounding to e4m3 costs 0.026. Codes are rounded by conversion to f16: below 2^-13 its
  -- numbers are multiples of `unit`, so that its bits are an integer; .relu makes 0 of what is too small for e4m3.
  local unit, balance = 2.0 ^ -24, 0.4

  --- The probabilities of scores (64 x n f32 accumulators, of the softmax `soft`) as `words` of A. They are relative to the largest score before
  --- the block, so that they don't wait for the block's own; in a warp where one is too large for e4m3 all are made once more.
  --- About a third is made by ex2, the others as codes, at the same time, by other pipes.
  ---
  --- Their sums come from the product, where V^T has rows of ones (p.ones): added up in f32 after each block, since the tensor core cuts off what it
  --- adds to large accumulators. These are the sums of rounded probabilities, which suits O. For lse they are those of the exponentials,
  --- all made by ex2. Returns { first, early, late, finish }: of a tile's first block, of later ones beside the product with V and after it, and after all.
  function internal.attention_narrow_weights(k, p, soft, scores, words, acc)
    local ahead, convert = k:regs("f32", 2), internal.to_output.e4m3 -- what scaled scores have to be added
    local exact = p.ones == 0

    local function refer_to_top()
      for half = 0, 1 do
        local top = soft.top[half]
        if soft.empty then -- -inf - -inf is no number
          top = k:mov(top, { type = "f32" })
          k:mov(top, 0.0, { guard = soft.top[half]:eq(-math.huge) })
        end
        k:mov(ahead[half], k:neg(top * soft.scale) + soft.lift)
      end
    end

    local function sum(x, y) return k:add(x, y) end

    -- Takes the sums of a product out of the accumulators.
    local function collect()
      for half = 0, exact and -1 or 1 do
        local r = p.dim // 2 + 2 * half
        k:add(soft.sum[half], soft.sum[half], acc[r])
        for i = r, r + 1 do k:mov(acc[i], 0.0) end
      end
    end

    local function either(x, y) return x | y end

    -- Fills the words. Returns the sums of both rows (0 where the product has them), and whether an exponential is too large.
    local function fill()
      local sums, seen = { [0] = internal.chained(sum), internal.chained(sum) }, internal.chained(either)
      -- Of the largest number of e4m3, 0x7E, and of NaN the top bit is set two further up.
      local function by_ex2(i)
        local x = {}
        for j, r in ipairs(scores_of(i)) do
          x[j] = k:ex2_approx_ftz(k:fma(scores[r], soft.scale, ahead[i % 2]))
          if exact then sums[i % 2](x[j]) end
        end
        k:mov(words[i], k:pack { convert(k, x[1], x[2]), convert(k, x[3], x[4]) })
        seen(k:add_u32(words[i], 0x02020202))
      end
      if exact then
        for i = 0, #words - 1 do by_ex2(i) end
        return { [0] = sums[0](), sums[1]() }, (seen() & 0x80808080):ne(0)
      end

      local largest = internal.chained(function(x, y) return k:max_f16x2(x, y) end)
      local slope, base = soft.scale * (8 * unit), {}
      for half = 0, 1 do base[half] = k:fma(ahead[half], 8 * unit, (8 * 7 - balance) * unit) end
      local function by_codes(i)
        local x = {}
        for j, r in ipairs(scores_of(i)) do x[j] = k:fma(scores[r], slope, base[i % 2]) end
        local even, odd = k:cvt_rn_relu_f16x2_f32(x[3], x[1]), k:cvt_rn_relu_f16x2_f32(x[4], x[2])
        largest(k:max_f16x2(even, odd))
        k:mad_lo_u32(words[i], odd, 256, even)
      end
      for i = 0, #words - 1 do (i // 2 % 3 == 0 and by_ex2 or by_codes)(i) end
      seen(k:add_u32(largest(), 0x7F817F81) & 0x80008000) -- codes of 0x7F, which is no number, and more
      return { [0] = 0.0, 0.0 }, (seen() & 0x80808080):ne(0)
    end

    local function first()
      for half = 0, 1 do k:mov(soft.top[half], internal.softmax_maximum(soft, half)) end
      refer_to_top()
      local sums = fill()
      for half = 0, 1 do k:mov(soft.sum[half], sums[half]) end
    end

    local function late()
      collect()
      local sums, over = fill()
      if soft.empty then over = over | soft.top[0]:eq(-math.huge) | soft.top[1]:eq(-math.huge) end
      local total = k:regs("f32", 2)
      for half = 0, 1 do k:mov(total[half], exact and soft.sum[half] + sums[half] or soft.sum[half]) end
      k:if_(k:vote_sync_any_pred(over), function()
        local before, shrink = {}, {}
        for half = 0, 1 do
          before[half] = k:mov(soft.top[half], { type = "f32" })
          k:mov(soft.top[half], k:max(internal.softmax_maximum(soft, half), before[half]))
        end
        refer_to_top()
        local again = fill()
        for half = 0, 1 do
          shrink[half] = k:ex2_approx_ftz(k:fma(before[half], soft.scale, ahead[half] - soft.lift))
          k:mov(total[half], exact and k:fma(soft.sum[half], shrink[half], again[half]) or soft.sum[half] * shrink[half])
        end
        k:fragment(acc):map(function(x, at) return x * shrink[at.half] end)
      end)
      for half = 0, 1 do k:mov(soft.sum[half], total[half]) end
    end

    -- 1 / sum of the thread's rows; 0 for one without a score.
    local function finish()
      local inverse = {}
      collect()
      for half = 0, 1 do
        inverse[half] = k:rcp_approx_ftz(soft.sum[half])
        k:mov(inverse[half], 0.0, { guard = soft.sum[half]:eq(0.0) })
      end
      return inverse
    end
    return { first = first, early = function() end, late = late, finish = not exact and finish or nil }
  end

  --- Writes the rows of ones, once for each stage. A barrier must follow; wgmma sees them by the fence of the warps that transpose.
  function internal.attention_ones(k, p, buffer)
    if p.ones == 0 then return end
    local line, thread, one = p.v.atom_k, k:special "tid.x", k:mov(0x38383838, { type = "b32" }) -- 1.0, four times
    local to, guard = k:address(buffer) + (thread << 2), thread:lt(p.ones * line // 4)
    for stage = 0, p.stages - 1 do
      for panel = 0, p.block // line - 1 do
        k:st_shared_b32(to, one, { offset = stage * p.v.bytes + (panel * p.v.mn + p.dim) * line, guard = guard })
      end
    end
  end

  --- The role of the warps that transpose V, of which this is number `mine` (a register): blocks(body) executes body for each block. The warps take
  --- 32 keys of it in turn.
  function internal.transpose_values(k, p, rings, buffers, mine, blocks)
    local lane = k:special "tid.x" & 31
    local cursor = rings.raw:cursor() -- of both rings, which have equally many stages
    -- A register has two dims of two keys. The even lines of a tile share half of the banks, so that half of the lanes give their
    -- odd dim to the matrix where the others give their even one.
    local upper = lane:ge(16)
    local even, odd = k:selp_b32(0x7531, 0x6420, upper), k:selp_b32(0x6420, 0x7531, upper)
    -- ldmatrix: lane i names key i of 32. stmatrix: lane i names the line of 16 in matrix i / 8; of the
    -- four matrices, 0 and 1 have the first 16 keys, 2 and 3 the next ones.
    local in_matrix = lane & 7
    local dim = (in_matrix << 1) + ((in_matrix >> 2) ~ (lane >> 3 & 1))
    local from_units = units_of(k, p.raw, k:address(buffers.raw), lane + (mine << 5))
    -- A line has all units of some keys: of one warp's 32, or of two warps'.
    local panels = p.v.atom_k == 32
    local base = k:address(buffers.v)
    local to_units = units_of(k, p.v, panels and base + mine * (p.v.mn * 32) or base, dim, panels and lane >> 4 or (mine << 1) + (lane >> 4))

    -- 32 keys and 16 dims at a time. Of p.pieces of them on their way the first is stored when one more has been asked for.
    local function pieces_from(key, from, to)
      local words, last = k:regs("b32", 4 * p.pieces), p.dim // 16 - 1
      local function of(chunk) return words:slice(4 * (chunk % p.pieces), 4) end
      local function load(chunk)
        if chunk > last then return end
        local at, offset = from(chunk, key)
        k:ldmatrix_x4(of(chunk), at, { trans = 1, offset = offset })
      end
      for chunk = 0, p.pieces - 1 do load(chunk) end
      for chunk = 0, last do
        local w, out = of(chunk), k:regs("b32", 4)
        for half = 0, 2, 2 do
          k:prmt(out[half], w[half], w[half + 1], even)
          k:prmt(out[half + 1], w[half], w[half + 1], odd)
        end
        load(chunk + p.pieces)
        local at, offset = to(key // 16, 16 * chunk)
        k:stmatrix_x4(at, out, { offset = offset })
      end
    end

    blocks(function()
      rings.raw:wait(cursor)
      rings.v:acquire(cursor)
      local from, to = from_units(cursor.stage), to_units(cursor.stage)
      for key = 0, p.block - 1, 32 * p.transposers do
        local left = (p.block - key) // 32 -- warps that still find keys
        local function body() pieces_from(key, from, to) end
        if left < p.transposers then k:if_(mine:lt(left), body) else body() end
      end
      k:fence_proxy_async { space = "shared::cta" } -- wgmma reads what was written, and TMA overwrites what was read
      k:bar_warp_sync()
      rings.raw:release(cursor, { lane = lane })
      k:mbarrier_arrive(rings.v:full_barrier(cursor), { guard = lane:eq(0) })
      rings.raw:advance(cursor)
    end)
  end

  --- The factors of the scores, `scale`, and of the bound of their tanh, `cap` (option `softcap`), and load(at), which multiplies
  --- those of Q and K of the tile's head and sequence into them and returns that of V; without the option `descale` nil.
  function internal.attention_factors(k, p, sizes)
    local factors = { scale = sizes.scale, cap = sizes.cap, load = function() end }
    if not p.descale then return factors end
    local scaled = p.softcap and "cap" or "scale"
    factors[scaled] = k:mov(sizes[scaled], { type = "f32" })
    function factors.load(at)
      local place = p.descale == "head" and at.batch * p.kv_heads + internal.divided(k, at.head, p.heads // p.kv_heads) or 0
      local function of(name) return k:ld_global_nc_f32(k:element(sizes[name .. "_descale"], place)) end
      k:mov(factors[scaled], sizes[scaled] * of "q" * of "k")
      return of "v"
    end
    return factors
  end
end
