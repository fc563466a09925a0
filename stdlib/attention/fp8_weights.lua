-- The probabilities of wg.attention for 8-bit elements, made at once as words of operand A, and none of them moved to
-- another thread (the order of keys that this takes stands in attention/fp8.lua). Most of them are made without ex2: at
-- twice the speed of 16-bit products, ex2 would be what the tensor cores wait for.

local elements = require "wgrun.tile.elements"
local softmax = require "wgrun.tile.softmax"

local module = {}

-- The four scores whose exponentials word i of A has, with the keys in that order: all of the thread's row i % 2.
local function scores_of(i)
  local r = 16 * (i // 4) + 8 * (i // 2 % 2) + 2 * (i % 2)
  return { r, r + 1, r + 4, r + 5 }
end

-- A byte of e4m3 stands for 2^e (1 + m / 8), where 8 (e + 7) + m is its code. So 8 (x + 7) is nearly the code of 2^x
-- (Schraudolph 1999): it has 1 + f in place of 2^f for the fraction f of x, up to 6 percent too much. With `balance`
-- subtracted the error is 0 in the mean, and 0.018 in the root of the mean square, where rounding to e4m3 costs 0.026.
-- Codes are rounded by conversion to f16: below 2^-13 its numbers are multiples of `unit`, so that its bits are an
-- integer; .relu makes 0 of what is too small for e4m3.
local unit, balance = 2.0 ^ -24, 0.4

-- Sets `ahead`: what is added to scaled scores, so that they are relative to the running maximum.
local function refer_to_top(weights)
  local k, soft = weights.k, weights.soft
  for half = 0, 1 do
    local top = soft.top[half]
    if soft.empty then -- -inf - -inf is no number
      top = k:mov(top, { type = "f32" })
      k:mov(top, 0.0, { guard = soft.top[half]:eq(-math.huge) })
    end
    k:mov(weights.ahead[half], k:neg(top * soft.scale) + soft.lift)
  end
end

-- Takes the sums of a product out of the accumulators.
local function collect(weights)
  for half = 0, weights.summed and -1 or 1 do
    local r = weights.p.value_dim // 2 + 2 * half
    weights.k:add(weights.soft.sum[half], weights.soft.sum[half], weights.acc[r])
    for i = r, r + 1 do weights.k:mov(weights.acc[i], 0.0) end
  end
end

-- Makes word i by ex2. Adds its exponentials to `sums`, if given; and `seen` sees a top bit where one is too large: two
-- added to the code of the largest number of e4m3, 0x7E, or of NaN, 0x7F, set it.
local function by_ex2(weights, i, seen, sums)
  local k, x, convert = weights.k, {}, elements.to_output.e4m3
  for j, r in ipairs(scores_of(i)) do
    x[j] = k:ex2_approx_ftz(k:fma(weights.scores[r], weights.soft.scale, weights.ahead[i % 2]))
    if sums then sums[i % 2](x[j]) end
  end
  k:mov(weights.words[i], k:pack { convert(k, x[1], x[2]), convert(k, x[3], x[4]) })
  seen(k:add_u32(weights.words[i], 0x02020202))
end

-- Makes word i as codes: slope * score + base, rounded. `largest` sees them.
local function by_codes(weights, i, slope, base, largest)
  local k, x = weights.k, {}
  for j, r in ipairs(scores_of(i)) do x[j] = k:fma(weights.scores[r], slope, base[i % 2]) end
  local even, odd = k:cvt_rn_relu_f16x2_f32(x[3], x[1]), k:cvt_rn_relu_f16x2_f32(x[4], x[2])
  largest(k:max_f16x2(even, odd))
  k:mad_lo_u32(weights.words[i], odd, 256, even)
end

local function too_large(seen) return (seen() & 0x80808080):ne(0) end

-- Fills the words. Returns the sums of both rows (0 where the product has them), and whether an exponential is too
-- large.
local function fill(weights)
  local k, last = weights.k, #weights.words - 1
  local seen = softmax.chained(function(x, y) return x | y end)
  if weights.summed or weights.p.exact then
    local function sum(x, y) return k:add(x, y) end
    local sums = weights.summed and { [0] = softmax.chained(sum), softmax.chained(sum) }
    for i = 0, last do by_ex2(weights, i, seen, sums) end
    return { [0] = sums and sums[0]() or 0.0, sums and sums[1]() or 0.0 }, too_large(seen)
  end
  local largest = softmax.chained(function(x, y) return k:max_f16x2(x, y) end)
  local slope, base = weights.soft.scale * (8 * unit), {}
  for half = 0, 1 do base[half] = k:fma(weights.ahead[half], 8 * unit, (8 * 7 - balance) * unit) end
  for i = 0, last do
    if i // 2 % 3 == 0 then by_ex2(weights, i, seen) else by_codes(weights, i, slope, base, largest) end
  end
  seen(k:add_u32(largest(), 0x7F817F81) & 0x80008000) -- codes of 0x7F, which is no number, and more
  return { [0] = 0.0, 0.0 }, too_large(seen)
end

-- Of a tile's first block.
local function first(weights)
  local k, soft = weights.k, weights.soft
  for half = 0, 1 do k:mov(soft.top[half], softmax.maximum(soft, half)) end
  refer_to_top(weights)
  local sums = fill(weights)
  for half = 0, 1 do k:mov(soft.sum[half], sums[half]) end
end

-- Fills the words once more, relative to the block's own largest score; O and the sums so far shrink.
local function fill_again(weights, total)
  local k, soft, before, shrink = weights.k, weights.soft, {}, {}
  for half = 0, 1 do
    before[half] = k:mov(soft.top[half], { type = "f32" })
    k:mov(soft.top[half], k:max(softmax.maximum(soft, half), before[half]))
  end
  refer_to_top(weights)
  local sums = fill(weights)
  for half = 0, 1 do
    shrink[half] = k:ex2_approx_ftz(k:fma(before[half], soft.scale, weights.ahead[half] - soft.lift))
    k:mov(
      total[half], weights.summed and k:fma(soft.sum[half], shrink[half], sums[half]) or soft.sum[half] * shrink[half])
  end
  k:fragment(weights.acc):map(function(x, at) return x * shrink[at.half] end)
end

-- Of a later block, after the product with V.
local function late(weights)
  local k, soft = weights.k, weights.soft
  collect(weights)
  local sums, over = fill(weights)
  if soft.empty then over = over | soft.top[0]:eq(-math.huge) | soft.top[1]:eq(-math.huge) end
  local total = k:regs("f32", 2)
  for half = 0, 1 do k:mov(total[half], weights.summed and soft.sum[half] + sums[half] or soft.sum[half]) end
  k:if_(k:vote_sync_any_pred(over), function() fill_again(weights, total) end)
  for half = 0, 1 do k:mov(soft.sum[half], total[half]) end
end

-- 1 / sum of the thread's rows; 0 for one without a score. extra: as of softmax:finish.
local function finish(weights, extra)
  local k, soft, inverse = weights.k, weights.soft, {}
  collect(weights)
  for half = 0, 1 do
    local sum, shrink = soft.sum[half], nil
    if extra then
      local _
      sum, _, shrink = softmax.with_extra(soft, half, sum, extra)
    end
    inverse[half] = k:rcp_approx_ftz(sum)
    if shrink then k:mul(inverse[half], inverse[half], shrink) end
    k:mov(inverse[half], 0.0, { guard = sum:eq(0.0) })
  end
  return inverse
end

--- The probabilities of scores (64 x n f32 accumulators, of the softmax `soft`) as `words` of A. They are relative to
--- the largest score before the block, so that they don't wait for the block's own; in a warp where one is too large
--- for e4m3 all are made once more. About a third is made by ex2, the others as codes, at the same time, by other
--- pipes.
---
--- Their sums come from the product, where V^T has rows of ones (p.ones): added up in f32 after each block, since the
--- tensor core cuts off what it adds to large accumulators. These are the sums of rounded probabilities, which suits O.
--- For lse they are those of the exponentials, all made by ex2, as they are with `exact`. Returns functions { first,
--- early, late, finish }: of a tile's first block, of later ones beside the product with V and after it, and after all.
function module.emit(k, p, soft, scores, words, acc)
  local weights = {
    k = k, p = p, soft = soft, scores = scores, words = words, acc = acc, ahead = k:regs("f32", 2),
    summed = p.ones == 0,
  }
  return {
    first = function() first(weights) end,
    early = function() end,
    late = function() late(weights) end,
    finish = not weights.summed and function(extra) return finish(weights, extra) end or nil,
  }
end

return module
