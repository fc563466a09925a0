-- The probabilities of wg.attention for 8-bit elements, made as words of operand A at once: most of them without ex2, and none of them
-- moved to another thread. The order of keys that this takes stands in attention_fp8.lua.

return function(internal)
  -- The four scores whose exponentials word i of A has, with the keys in that order: all of the thread's row i % 2.
  local function scores_of(i)
    local r = 16 * (i // 4) + 8 * (i // 2 % 2) + 2 * (i % 2)
    return { r, r + 1, r + 4, r + 5 }
  end

  -- A byte of e4m3 stands for 2^e (1 + m / 8), where 8 (e + 7) + m is its code. So 8 (x + 7) is nearly the code of 2^x (Schraudolph 1999): it has 1 + f in
  -- place of 2^f for the fraction f of x, up to 6 percent too much. With less by `balance` the error is 0 in the mean, and 0.018 in the root of
  -- the mean square, where rounding to e4m3 costs 0.026. Codes are rounded by conversion to f16: below 2^-13 its
  -- numbers are multiples of `unit`, so that its bits are an integer; .relu makes 0 of what is too small for e4m3.
  local unit, balance = 2.0 ^ -24, 0.4

  -- Sets `ahead`: what scaled scores have to be added, to be relative to the running maximum.
  local function refer_to_top(w)
    local k, soft = w.k, w.soft
    for half = 0, 1 do
      local top = soft.top[half]
      if soft.empty then -- -inf - -inf is no number
        top = k:mov(top, { type = "f32" })
        k:mov(top, 0.0, { guard = soft.top[half]:eq(-math.huge) })
      end
      k:mov(w.ahead[half], k:neg(top * soft.scale) + soft.lift)
    end
  end

  -- Takes the sums of a product out of the accumulators.
  local function collect(w)
    for half = 0, w.exact and -1 or 1 do
      local r = w.p.dim // 2 + 2 * half
      w.k:add(w.soft.sum[half], w.soft.sum[half], w.acc[r])
      for i = r, r + 1 do w.k:mov(w.acc[i], 0.0) end
    end
  end

  -- Makes word i by ex2. Adds its exponentials to `sums`, if given; and `seen` sees a top bit where one is too large: of the largest
  -- number of e4m3, 0x7E, and of NaN it is set two further up.
  local function by_ex2(w, i, seen, sums)
    local k, x, convert = w.k, {}, internal.to_output.e4m3
    for j, r in ipairs(scores_of(i)) do
      x[j] = k:ex2_approx_ftz(k:fma(w.scores[r], w.soft.scale, w.ahead[i % 2]))
      if sums then sums[i % 2](x[j]) end
    end
    k:mov(w.words[i], k:pack { convert(k, x[1], x[2]), convert(k, x[3], x[4]) })
    seen(k:add_u32(w.words[i], 0x02020202))
  end

  -- Makes word i as codes: slope * score + base, rounded. `largest` sees them.
  local function by_codes(w, i, slope, base, largest)
    local k, x = w.k, {}
    for j, r in ipairs(scores_of(i)) do x[j] = k:fma(w.scores[r], slope, base[i % 2]) end
    local even, odd = k:cvt_rn_relu_f16x2_f32(x[3], x[1]), k:cvt_rn_relu_f16x2_f32(x[4], x[2])
    largest(k:max_f16x2(even, odd))
    k:mad_lo_u32(w.words[i], odd, 256, even)
  end

  local function too_large(seen) return (seen() & 0x80808080):ne(0) end

  -- Fills the words. Returns the sums of both rows (0 where the product has them), and whether an exponential is too large.
  local function fill(w)
    local k, last = w.k, #w.words - 1
    local seen = internal.chained(function(x, y) return x | y end)
    if w.exact then
      local function sum(x, y) return k:add(x, y) end
      local sums = { [0] = internal.chained(sum), internal.chained(sum) }
      for i = 0, last do by_ex2(w, i, seen, sums) end
      return { [0] = sums[0](), sums[1]() }, too_large(seen)
    end
    local largest = internal.chained(function(x, y) return k:max_f16x2(x, y) end)
    local slope, base = w.soft.scale * (8 * unit), {}
    for half = 0, 1 do base[half] = k:fma(w.ahead[half], 8 * unit, (8 * 7 - balance) * unit) end
    for i = 0, last do
      if i // 2 % 3 == 0 then by_ex2(w, i, seen) else by_codes(w, i, slope, base, largest) end
    end
    seen(k:add_u32(largest(), 0x7F817F81) & 0x80008000) -- codes of 0x7F, which is no number, and more
    return { [0] = 0.0, 0.0 }, too_large(seen)
  end

  -- Of a tile's first block.
  local function first(w)
    local k, soft = w.k, w.soft
    for half = 0, 1 do k:mov(soft.top[half], internal.softmax_maximum(soft, half)) end
    refer_to_top(w)
    local sums = fill(w)
    for half = 0, 1 do k:mov(soft.sum[half], sums[half]) end
  end

  -- Fills the words once more, relative to the block's own largest score; O and the sums so far shrink.
  local function fill_again(w, total)
    local k, soft, before, shrink = w.k, w.soft, {}, {}
    for half = 0, 1 do
      before[half] = k:mov(soft.top[half], { type = "f32" })
      k:mov(soft.top[half], k:max(internal.softmax_maximum(soft, half), before[half]))
    end
    refer_to_top(w)
    local sums = fill(w)
    for half = 0, 1 do
      shrink[half] = k:ex2_approx_ftz(k:fma(before[half], soft.scale, w.ahead[half] - soft.lift))
      k:mov(total[half], w.exact and k:fma(soft.sum[half], shrink[half], sums[half]) or soft.sum[half] * shrink[half])
    end
    k:fragment(w.acc):map(function(x, at) return x * shrink[at.half] end)
  end

  -- Of a later block, after the product with V.
  local function late(w)
    local k, soft = w.k, w.soft
    collect(w)
    local sums, over = fill(w)
    if soft.empty then over = over | soft.top[0]:eq(-math.huge) | soft.top[1]:eq(-math.huge) end
    local total = k:regs("f32", 2)
    for half = 0, 1 do k:mov(total[half], w.exact and soft.sum[half] + sums[half] or soft.sum[half]) end
    k:if_(k:vote_sync_any_pred(over), function() fill_again(w, total) end)
    for half = 0, 1 do k:mov(soft.sum[half], total[half]) end
  end

  -- 1 / sum of the thread's rows; 0 for one without a score.
  local function finish(w)
    local k, sum, inverse = w.k, w.soft.sum, {}
    collect(w)
    for half = 0, 1 do
      inverse[half] = k:rcp_approx_ftz(sum[half])
      k:mov(inverse[half], 0.0, { guard = sum[half]:eq(0.0) })
    end
    return inverse
  end

  --- The probabilities of scores (64 x n f32 accumulators, of the softmax `soft`) as `words` of A. They are relative to the largest score before
  --- the block, so that they don't wait for the block's own; in a warp where one is too large for e4m3 all are made once more.
  --- About a third is made by ex2, the others as codes, at the same time, by other pipes.
  ---
  --- Their sums come from the product, where V^T has rows of ones (p.ones): added up in f32 after each block, since the tensor core cuts off what it
  --- adds to large accumulators. These are the sums of rounded probabilities, which suits O. For lse they are those of the exponentials,
  --- all made by ex2. Returns { first, early, late, finish }: of a tile's first block, of later ones beside the product with V and after it, and after all.
  function internal.attention_narrow_weights(k, p, soft, scores, words, acc)
    local w = { k = k, p = p, soft = soft, scores = scores, words = words, acc = acc, ahead = k:regs("f32", 2), exact = p.ones == 0 }
    return {
      first = function() first(w) end,
      early = function() end,
      late = function() late(w) end,
      finish = not w.exact and function() return finish(w) end or nil,
    }
  end
end
