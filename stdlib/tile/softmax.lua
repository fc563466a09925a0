-- The softmax of rows that come in blocks of columns (Milakov and Gimelshein 2018): a running maximum and sum of each
-- row, and a factor by which what was summed before shrinks when the maximum grows.

local arguments = require "wgrun.arguments"
local warps = require "wgrun.builder.warp"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local module = {}

local k = native.methods.builder
local options = arguments.options

-- The most that an exponential may become, in powers of two: 2^8 fits bf16, f16 and e4m3, and the sums f32. So far a
-- row's maximum may grow before what was summed is scaled to the new one; the result does not depend on it but for
-- rounding.
local most = 8

--- The running softmax of the rows of a warpgroup's accumulators, made by k:softmax.
--- @field top regs  f32: the value that the exponents of the thread's two rows are relative to
--- @field sum regs  f32: this thread's part of the sums of its two rows
local softmax = classes.new "softmax"

--- Prepares the softmax of rows whose scores come in blocks of 64 x n accumulators: of each block,
--- softmax:first or softmax:next makes exponentials 2^(scale * (score - top)) in place. softmax:finish gives
--- the sums of the rows. The scores must be complete (k:wgmma_wait_group).
--- @param options table
--- @option scores regs  the f32 accumulators of a warpgroup, 64 x n
--- @option scale reg  f32, positive: the factor of the scores, in units of log2
--- @option empty boolean = false  a row may have no score but -inf so far: its exponentials are then 0
--- @option lift integer = 0  the exponentials are 2^lift times as large, 0 to 7: where they are rounded to a type with
---   few exponents, such as e4m3
--- @return softmax
--- @see k:fragment
function k:softmax(opts)
  options("k:softmax", opts)
  arguments.object("k:softmax, scores", opts.scores, "regs")
  arguments.object("k:softmax, scale", opts.scale, "reg")
  return setmetatable({
    k = self, scores = opts.scores, scale = opts.scale, empty = opts.empty,
    lift = arguments.whole("k:softmax: lift", opts.lift or 0, 0, most - 1), top = self:regs("f32", 2),
    sum = self:regs("f32", 2),
  }, softmax)
end

-- Which of the thread's two rows holds accumulator r (PTX ISA 9.7.15.5.1, figure of the D fragment).
local function half_of(r) return r // 2 % 2 end

--- Combines values as they come, in two chains, since one would wait for each result: chain(x) adds one, and chain() is
--- all of them.
function module.chained(combine)
  local chains, count = {}, 0
  return function(x)
    if not x then return combine(chains[0], chains[1]) end
    local c = count % 2
    chains[c], count = chains[c] and combine(chains[c], x) or x, count + 1
  end
end

-- Combines the row's elements in this thread.
local function combine(self, half, f)
  local chain = module.chained(f)
  for r = 0, #self.scores - 1 do
    if half_of(r) == half then chain(self.scores[r]) end
  end
  return chain()
end

-- The exponentials of the thread's row `half` relative to `top`, which may be -inf where `empty`; returns -scale * top.
local function exponentials(self, half, top, empty)
  local b, shown = self.k, top
  if empty then -- -inf - -inf is no number
    shown = b:mov(top, { type = "f32" })
    b:mov(shown, 0.0, { guard = top:eq(-math.huge) })
  end
  local negative = b:neg(shown * self.scale)
  local ahead = self.lift == 0 and negative or negative + self.lift
  for r = 0, #self.scores - 1 do
    if half_of(r) == half then b:ex2_approx_ftz(self.scores[r], b:fma(self.scores[r], self.scale, ahead)) end
  end
  return negative
end

local function sum_of(self, half) return combine(self, half, function(x, y) return self.k:add(x, y) end) end

local function max_of(self, half)
  local function max(x, y) return self.k:max(x, y) end
  return warps.over_lanes(self.k, combine(self, half, max), max)
end

--- The largest score of the thread's row `half`.
module.maximum = max_of

--- Replaces the first block's scores by their exponentials.
function softmax:first()
  local b = self.k
  for half = 0, 1 do
    b:mov(self.top[half], max_of(self, half))
    exponentials(self, half, self.top[half], self.empty)
  end
  for half = 0, 1 do b:mov(self.sum[half], sum_of(self, half)) end
end

--- Replaces the scores of a later block by their exponentials.
--- @param seen boolean = false  each row has a score in this block, so that `empty` does not hold for it
--- @return function  rescale(acc): multiplies accumulators, 64 x any n, of the exponentials before by what they shrink;
---   warps in which no maximum has grown much skip it
function softmax:next(seen)
  local b, shrink, grown = self.k, {}, nil
  for half = 0, 1 do
    local new = b:max(max_of(self, half), self.top[half])
    local far = ((new - self.top[half]) * self.scale):gt(1.0 * (most - self.lift))
    new = b:selp(new, self.top[half], far)
    grown = grown and grown | far or far
    local negative = exponentials(self, half, new, self.empty and not seen)
    shrink[half] = b:ex2_approx_ftz(b:fma(self.top[half], self.scale, negative))
    b:mov(self.top[half], new)
  end
  for half = 0, 1 do b:fma(self.sum[half], self.sum[half], shrink[half], sum_of(self, half)) end
  local any = b:vote_sync_any_pred(grown)
  return function(acc)
    b:if_(any, function() b:fragment(acc):map(function(x, at) return x * shrink[at.half] end) end)
  end
end

--- Adds the exponential of one more score to `total`, the sum of the thread's row `half`: extra, f32, in units of log2.
--- Returns the sum, the exponent that it is relative to, and the factor by which what was summed shrinks: the score may
--- be far greater than all others.
function module.with_extra(self, half, total, extra)
  local b = self.k
  local own = self.top[half] * self.scale
  local top = b:max(b:max(own, extra), -2.0 ^ 100) -- finite: -inf - -inf is no number
  local shrink, exponent = b:ex2_approx_ftz(own - top), extra - top
  if self.lift > 0 then exponent = exponent + self.lift end
  return b:fma(total, shrink, b:ex2_approx_ftz(exponent)), top, shrink
end

--- Ends the softmax: the sums over all lanes of a row.
--- @param extra reg?  f32, in units of log2: a score that counts in the sums of all rows, beside those of the blocks
--- @return table  [0] and [1]: for the thread's two rows 1 / sum, f32; 0 for a row without a score
--- @return table  [0] and [1]: their logarithms of the sum of exp(scale * ln 2 * score), f32; -inf for a row without a
---   score
function softmax:finish(extra)
  local b, inverse, logarithm = self.k, {}, {}
  for half = 0, 1 do
    local total, top, shrink = warps.over_lanes(self.k, self.sum[half], function(x, y) return b:add(x, y) end), nil, nil
    if extra then total, top, shrink = module.with_extra(self, half, total, extra) end
    local none = total:eq(0.0)
    inverse[half] = b:rcp_approx_ftz(total)
    if shrink then b:mul(inverse[half], inverse[half], shrink) end
    b:mov(inverse[half], 0.0, { guard = none })
    local power = b:lg2_approx_ftz(total)
    if self.lift > 0 then power = power - self.lift end
    logarithm[half] = (top and top + power or b:fma(self.top[half], self.scale, power)) * math.log(2)
    b:mov(logarithm[half], -math.huge, { guard = none })
  end
  return inverse, logarithm
end

classes.shield(k, "k:", { "softmax" })
classes.shield(softmax, "softmax:", { "first", "next", "finish" })

return module
