-- Dropout of attention's probabilities (option `dropout`), by random numbers that depend on the place alone, so that
-- the gradients find the same ones: Philox 4x32 with 7 rounds (Salmon et al. 2011). Its key is the seed. Its counter
-- is, of query i and key j,
--
--   { 4 (j // 16) + j // 2 % 4,  8 (i // 16) + i % 8,  batch * heads + head,  offset mod 2^32 }
--
-- It gives four words for eight scores, accumulators of one thread: word i // 8 % 2 + 2 (j // 8 % 2) has 15 bits for an
-- even key (bits 0 to 14) and 15 for the odd one behind it (bits 16 to 30). A score is kept where these are p * 2^15
-- (rounded) or more.
--
-- Numbers of f16 without a sign have the order of their bits, and what is no number comes last: one instruction
-- compares both halves of a word, if p * 2^15 is a number. The gradients need both P and what is kept of it: they give
-- what is dropped a sign, which no probability has, and conversion to 16 bits makes 0 of it.

local arguments = require "wgrun.arguments"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local module = {}

local rounds, bits = 7, 15
local infinite = 0x7C00 -- of f16
local multipliers, weyl = { 0xD2511F53, 0xCD9E8D57 }, { 0x9E3779B9, 0xBB67AE85 }

local function u32(k, x) return k:mov(x, { type = "u32" }) end

--- The probability of a launch with those options.
function module.probability(p, given)
  local dropped = given.dropout_p
  if not (dropped >= 0 and dropped <= infinite / (1 << bits) or dropped == 1) then
    native.fail(("%s: dropout_p is %s, must be from 0 to 31 / 32, or 1"):format(p.what:gsub("^wg%.", ""), dropped))
  end
  return dropped
end

--- What kept probabilities are multiplied by; 0 where none are kept.
function module.factor(p, given)
  local kept = 1 - module.probability(p, given)
  return kept > 0 and 1 / kept or 0
end

--- Adds the kernel's parameters to `rows` (builder/parameters.lua). given(launch): the options of a launch; unit: what
--- a kept probability is divided by.
function module.add_parameters(p, rows, given, unit)
  local function state(l)
    local tensor = given(l).dropout_state
    local got, want = arguments.shape_text(arguments.shape_of(tensor)), arguments.shape_text { 2 }
    if got ~= want then
      native.fail(("%s: dropout_state must be s64, %s, not %s"):format(p.what:gsub("^wg%.", ""), want, got))
    end
    return tensor
  end
  local function threshold(l)
    return math.min(math.floor(module.probability(p, given(l)) * (1 << bits) + 0.5), infinite) * 0x10001
  end
  for _, row in ipairs(p.dropout and {
    { "dropout_state", "const s64*", "two elements: seed and offset", value = state },
    { "kept_from", "u32", "p * 2^15 * (2^16 + 1), where p is dropped, up to 31 / 32", value = threshold },
    {
      "kept_factor", "f32", ("%d / (1 - p), or 0"):format(unit or 1),
      value = function(l) return (unit or 1) * module.factor(p, given(l)) end,
    },
  } or {}) do rows[#rows + 1] = row end
  return rows
end

-- The low and the high half of a product of 32 bits.
local function product(k, x, by)
  local halves = k:regs("b32", 2)
  k:unpack(halves, k:mul_wide_u32(x, by))
  return u32(k, halves[0]), u32(k, halves[1])
end

--- Returns random(x, y, pair): the four words of the counter whose first three words those are.
function module.generator(k, sizes)
  local seed = k:ld_global_v2_u32(sizes.dropout_state)
  local offset = k:ld_global_u32(sizes.dropout_state, { offset = 8 })
  local keys = {}
  for round = 0, rounds - 1 do
    keys[round] = { seed[0] + (weyl[1] * round & 0xFFFFFFFF), seed[1] + (weyl[2] * round & 0xFFFFFFFF) }
  end
  return function(x, y, pair)
    local c = { x, y, pair, offset }
    for round = 0, rounds - 1 do
      local low_x, high_x = product(k, c[1], multipliers[1])
      local low_z, high_z = product(k, c[3], multipliers[2])
      c = { high_z ~ c[2] ~ keys[round][1], low_z, high_x ~ c[4] ~ keys[round][2], low_x }
    end
    return { [0] = c[1], c[2], c[3], c[4] }
  end
end

--- What the forward pass divides kept probabilities by: the number 1 of f16 is 2^-7 as bf16.
module.units = { f16 = 1, bf16 = 128 }

--- Returns prepare(block), which converts the thread's probabilities of a block of keys, `me.scores`, to words of 16
--- bits, and returns pack(out): it sets `out` to these words, with 0 for what is dropped. row: the thread's first
--- query; me.random: of module.generator.
function module.emit(me, at, row)
  local k, p, pair, y = me.k, me.p, at.batch * me.p.heads + at.head, (row >> 4 << 3) + (row & 7)
  return function(block)
    local x, prepared = block * (p.block // 4) + (me.lane & 3), {}
    for sixteen = 0, p.block // 16 - 1 do
      local words = me.random(x + 4 * sixteen, y, pair)
      for word = 0, 3 do
        local i = 4 * sixteen + word
        prepared[i] = {
          elements.to_output[p.dtype](k, me.scores[2 * i], me.scores[2 * i + 1]),
          k:set_pair_geu_f16x2(k:abs_f16x2(words[word]), me.sizes.kept_from),
        }
      end
    end
    return function(out)
      for i = 0, #prepared do k["mul_rn_" .. p.dtype .. "x2"](k, out[i], prepared[i][1], prepared[i][2]) end
    end
  end
end

-- Gives f32 values a sign where they are dropped: `word` has the bits of `low` and of `high`.
local function mark(k, sizes, word, low, high)
  local dropped = ~((word & 0x7FFF7FFF) + (0x80008000 - sizes.kept_from))
  for _, one in ipairs { { low, dropped << 16 }, { high, dropped } } do
    k:mov(one[1], k:mov(k:mov(one[1], { type = "b32" }) | (one[2] & 0x80000000), { type = "f32" }))
  end
end

--- Gradients: returns drop(values, query, head), which marks the thread's probabilities, whose rows are keys, from the
--- thread's first `key` on, in the block that begins with that query. A thread has one of two keys that share words and
--- both queries that its neighbour has too: each computes the words of one of these, and they exchange halves.
--- me.random: of module.generator.
function module.emit_transposed(me, at, key)
  local k, p, lane = me.k, me.p, me.lane
  local odd = (lane & 4):ne(0) -- of the keys, and which query's words this thread computes
  local x = (key >> 4 << 2) + (key >> 1 & 3)
  local theirs = k:selp_b32(0x5410, 0x7632, odd) -- of two words, the halves of the neighbour's key
  local own = { [0] = k:selp_b32(0x3254, 0x5410, odd), k:selp_b32(0x3276, 0x7610, odd) }
  return function(values, query, head)
    local pair = at.batch * p.heads + head
    local y = (query >> 1) + ((lane & 3) << 1) + k:selp_u32(1, 0, odd)
    for sixteen = 0, #values // 8 - 1 do
      local words, received = me.random(x, y + 8 * sixteen, pair), {}
      for pair = 0, 1 do
        received[pair] = k:reg "b32"
        k:shfl_sync_bfly_b32(received[pair], k:prmt(words[2 * pair], words[2 * pair + 1], theirs), 4, 31)
      end
      for word = 0, 3 do
        local r = 8 * sixteen + 4 * (word % 2) + 2 * (word // 2)
        mark(
          k, me.sizes, u32(k, k:prmt(words[word], received[word // 2], own[word % 2])), values[r], values[r + 1])
      end
    end
  end
end

local conversions = { bf16 = "cvt_rn_relu_bf16x2_f32", f16 = "cvt_rn_relu_f16x2_f32" }

--- Gradients: the conversion of two adjacent probabilities to a word, which makes 0 of what is dropped.
function module.conversion(dtype)
  return function(k, x, y) return k[conversions[dtype]](k, y, x) end
end

--- Gradients: the gradient of a score, without the factor of what is kept: `delta` has been divided by it.
function module.gradient(k, probability, dp, delta)
  return probability * k:selp(dp - delta, delta, probability:ge(0.0))
end

return module
