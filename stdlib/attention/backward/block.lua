-- What the consumers of wg.attention_backward share: operands in shared memory, the mask, probabilities and gradients
-- of a block of scores, and the results. Scores are transposed: a row of accumulators is a key, a
-- column a query.

local dropout = require "wgrun.attention.dropout"
local scheduler = require "wgrun.attention.backward.scheduler"
local shares = require "wgrun.attention.backward.shares"
local attention_mask = require "wgrun.attention.mask"
local scores = require "wgrun.attention.scores"
local tensors = require "wgrun.attention.tensors"
local elements = require "wgrun.tile.elements"

local module = {}

local function signed(k, x) return k:mov(x, { type = "s32" }) end

-- The query of accumulator r, counted from the thread's first one.
local function query_of(r) return 8 * (r // 4) + r % 2 end

--- Emits a product of 16-bit operands, d += a * b.
function module.multiply(k, p, d, a, b, form)
  form.k, form.d, form.a, form.b = 16, "f32", p.dtype, p.dtype
  k:wgmma_mma_async(d, a, b, form)
end

--- Returns mask(query), which sets scores `s` of keys that their query does not see, and of keys after the last one, to
--- -inf; `query` is that of the first column, `first_key` the key of the consumer's first row.
function module.masker(k, p, s, at, first_key)
  local thread = k:special "tid.x"
  local lane = thread & 31
  local first_query = signed(k, (lane & 3) << 1)
  local low, high = {}, {} -- of the thread's keys, counted from the thread's first query of block 0
  for half = 0, 1 do
    local key = first_key + ((thread >> 5 & 3) << 4) + (lane >> 2) + 8 * half
    low[half] = at.low and at.low(signed(k, key)) - first_query or k:mov(-(1 << 30), { type = "s32" })
    k:mov(low[half], 1 << 30, { guard = key:ge(at.keys) })
    high[half] = at.high and at.high(signed(k, key)) - first_query
  end
  local hide = attention_mask.hider(k, s, at.high and high, low)
  local over = (at.key + p.keys):gt(at.keys)
  local low_of_last = at.low and at.low(signed(k, at.key + (p.keys - 1)))
  local high_of_first = at.high and at.high(signed(k, at.key))
  return function(query)
    local from, needed = signed(k, query), over
    if at.low then needed = needed | from:lt(low_of_last) end
    if at.high then needed = needed | (from + p.part):gt(high_of_first) end
    k:if_(needed, function() hide(from) end)
  end
end

--- exponentials(stats) makes the probabilities of the scores acc.s in `acc.p16`, and gradients(stats) their gradients
--- in `acc.ds16`, from acc.dp; `stats` is where -lse * log2(e) of the thread's first query stands. factor: of the
--- scores, in units of log2. slopes, and the registers f32, as scores.emit_with_slopes has them. drop(f32): marks
--- the probabilities that dropout drops; or nil.
function module.elements(k, p, acc, factor, slopes, f32, drop)
  -- The probabilities, and then dS. In the place of the scores, they would be accumulators that other instructions
  -- write from one product to the next, and ptxas (13.0) finds too few registers for that. Slopes, which are there
  -- before the probabilities, change places with the scores.
  local function pack(words, convert)
    for i = 0, #words - 1 do k:mov(words[i], convert(k, f32[2 * i], f32[2 * i + 1])) end
  end
  -- compute(r, value): of accumulator r and its query's stat.
  local function each(stats, offset, compute)
    local pair = k:regs("f32", 2)
    for r = 0, #f32 - 1, 4 do
      k:ld_shared_v2_f32(pair, stats, { offset = offset + 4 * query_of(r) })
      for i = r, r + 3 do compute(i, pair[i % 2]) end
    end
  end
  local function exponential(r, logarithm)
    local exponent = k:fma(acc.s[r], factor, logarithm)
    if slopes[r] ~= true then return k:ex2_approx_ftz(f32[r], exponent) end
    local probability = k:ex2_approx_ftz(exponent)
    k:mov(acc.s[r], f32[r])
    k:mov(acc.s[r], 0.0, { guard = probability:eq(0.0) }) -- where no score is seen, its slope may be no number
    k:mov(f32[r], probability)
  end
  local function gradient(r, delta)
    if drop then
      k:mov(f32[r], dropout.gradient(k, f32[r], acc.dp[r], delta))
    else
      k:mul(f32[r], f32[r], acc.dp[r] - delta)
    end
    local slope = slopes[r] == true and acc.s[r] or slopes[r]
    if slope and slope ~= 1 then k:mul(f32[r], f32[r], slope) end
  end
  return function(stats)
    each(stats, 0, exponential)
    if drop then drop(f32) end
    pack(acc.p16, drop and dropout.conversion(p.dtype) or elements.to_output[p.dtype])
  end, function(stats)
    each(stats, 4 * p.rows, gradient)
    pack(acc.ds16, elements.to_output[p.dtype])
  end
end

--- A consumer: what all roles have (attention/backward/kernel.lua), its number, and where its thread is in it.
function module.consumer(g)
  local k, me = g.k, setmetatable({}, { __index = g })
  local thread = k:special "tid.x"
  me.lane, me.warp = thread & 31, thread >> 5 & 3
  me.number = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
  return me
end

--- Adds to a consumer with accumulators `acc` what makes P^T and dS^T of the scores and dP^T, whose keys begin at
--- `key`; its places in the rings; and `stage`, that of dS.
function module.prepare(me, key)
  local k, p, acc, sizes = me.k, me.p, me.acc, me.sizes
  me.slopes = {}
  local factor, held = (p.softcap or p.score) and 1 / math.log(2) or sizes.scale_log2, k:regs("f32", #acc.s)
  local first_query
  me.random = p.dropout and dropout.generator(k, sizes)
  local dropped = p.dropout and dropout.emit_transposed(me, me.at, key + ((me.warp << 4) + (me.lane >> 2)))
  local function drop(values) dropped(values, first_query, me.head) end
  me.exponentials, me.gradients = module.elements(k, p, acc, factor, me.slopes, held, dropped and drop)
  local scored = scores.emit_with_slopes(me, key, held, function(query, head)
    return scheduler.is_whole(me, head, query, key)
  end)
  local mask = module.masker(k, p, acc.s, me.at, key)
  function me.finish_scores(query) -- of the block that begins with that query
    first_query = query
    scored(query, me.head)
    mask(query)
  end
  me.add = shares.adder(me)
  me.query, me.gradient = me.rings.q:cursor(), me.rings.gradient:cursor()
  me.stage = k:mov(0, { type = "u32" })
  me.previous, me.any_previous = { stage = k:mov(0, { type = "u32" }) }, k:mov(0, { type = "u32" })
end

--- Gives the queries of the block before back to the producer.
function module.release_queries(me)
  me.rings.q:release(me.previous, { lane = me.lane, guard = me.any_previous:ne(0), cluster = me.p.cluster })
  me.k:mov(me.previous.stage, me.query.stage)
  me.k:mov(me.any_previous, 1)
end

--- The main loop of a consumer: body(block, head) for each block of queries, which has arrived. `ready` is called once
--- K and V are there.
function module.each_block(me, ready, body)
  local k, acc, rings = me.k, me.acc, me.rings
  for i = 0, #acc.dk - 1 do
    k:mov(acc.dk[i], 0.0)
    k:mov(acc.dv[i], 0.0)
  end
  rings.keys:wait(rings.keys:cursor())
  if ready then ready() end
  scheduler.each(me, function(block, head)
    rings.q:wait(me.query)
    k:wgmma_fence()
    me.head = head
    body(block, head)
    rings.q:advance(me.query)
    rings.gradient:advance(me.gradient)
  end)
  if not me.p.drained then k:wgmma_wait_group(0) end
end

--- The threads of all consumers meet: what they wrote to shared memory is there for products.
function module.meet(me)
  me.k:fence_proxy_async { space = "shared::cta" }
  me.k:bar_sync(1, { threads = 128 * me.p.consumers })
  me.k:wgmma_fence()
end

--- Stores dV and dK: the consumer's 64 keys from `key` on, and its columns from `column` on.
function module.store(me, key, column)
  local k, p, acc, maps, buffers, at = me.k, me.p, me.acc, me.maps, me.buffers, me.at
  local kept = p.dropout and me.sizes.kept_factor or nil
  local scale = kept and me.sizes.scale * kept or me.sizes.scale
  local thread, mine = k:special "tid.x", me.number
  local leader = (thread & 127):eq(0)
  if p.packed then
    local rows = { heads = p.kv_heads, head = at.head, first = at.key_start, count = at.keys, column = column }
    local row = key + (((thread >> 5 & 3) << 4) + ((thread & 31) >> 2))
    for r = 0, #acc.dk - 1 do k:mul(acc.dk[r], acc.dk[r], scale) end
    for r = 0, kept and #acc.dv - 1 or -1 do k:mul(acc.dv[r], acc.dv[r], kept) end
    tensors.store_pairs(k, p, acc.dv, maps.dV, rows, row)
    return tensors.store_pairs(k, p, acc.dk, maps.dK, rows, row)
  end
  k:bar_sync(1, { threads = 128 * p.consumers }) -- before dV and dK take the places of V and K
  local place, bytes = tensors.place(p), p.panel.count * p.panel.bytes
  for _, result in ipairs { { acc.dv, maps.dV, buffers.v, kept }, { acc.dk, maps.dK, buffers.k, scale } } do
    local write = k:epilogue {
      panel = p.panel, map = result[2], buffer = result[3], offset = mine * bytes, buffers = p.panel.count,
      barrier = mine + 2, alpha = result[4],
      place = function(c, row) return place(c, at, row) end,
    }
    write(result[1], key, column or k:mov(0, { type = "u32" }))
  end
  k:cp_async_bulk_wait_group(0, { read = true, guard = leader })
end

return module
