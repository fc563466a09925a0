-- A consumer of wg.attention: a warpgroup with 64 queries. Its main loop has two products in flight: the scores of the
-- next block of keys, and this block's probabilities times V. While the second runs it computes the softmax of the
-- first; and the warpgroups take turns to issue their products, so that the tensor core is busy while the others
-- compute exponentials.

local dropout = require "wgrun.attention.dropout"
local fp8 = require "wgrun.attention.fp8"
local fp8_weights = require "wgrun.attention.fp8_weights"
local attention_output = require "wgrun.attention.output"
local pages = require "wgrun.attention.pages"
local scheduler = require "wgrun.attention.scheduler"
local attention_scores = require "wgrun.attention.scores"
local sink = require "wgrun.attention.sink"
local splits = require "wgrun.attention.splits"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

-- The products of one consumer: scores = Q * K^T of a stage, and acc += P * V of a stage, each as a commit group.
local function products(g, scores, probabilities, acc)
  local k, p, buffers = g.k, g.p, g.buffers
  local q, kk, v = k:descriptor(buffers.q), k:descriptor(buffers.k), k:descriptor(buffers.v)
  -- trans: for 16-bit types; 8-bit operands have K contiguous.
  local function form(n, scale_d, trans)
    local out = { n = n, k = p.k_step, d = "f32", a = p.dtype, b = p.dtype, scale_d = scale_d }
    for key, value in pairs(p.fp8 and {} or trans) do out[key] = value end
    return out
  end
  local steps = p.dim // p.k_step // p.parts
  local function score(query_cursor, key_cursor, part)
    local a, b = descriptors.of(k, p.q, q, query_cursor.stage), descriptors.of(k, p.k, kk, key_cursor.stage)
    k:wgmma_fence()
    for step = 0, steps - 1 do
      k:wgmma_mma_async(
        scores, a(step + part * steps), b(step),
        form(p.block, step + part == 0 and 0 or 1, { trans_a = 0, trans_b = 0 }))
    end
    k:wgmma_commit_group()
  end
  local columns = p.columns + p.ones -- of V and of ones: one product, or two where they are more than 256
  local parts = columns <= 256 and { { 0, columns } } or { { 0, 128 }, { 128, columns - 128 } }
  local function weigh(value_cursor)
    local b = descriptors.of(k, p.v, v, value_cursor.stage)
    k:wgmma_fence()
    for step = 0, p.block // p.k_step - 1 do
      local words = probabilities:slice(4 * step, 4)
      for _, part in ipairs(parts) do
        local from, n = part[1], part[2]
        k:wgmma_mma_async(acc:slice(from // 2, n // 2), words, b(step, from), form(n, 1, { trans_b = 1 }))
      end
    end
    k:wgmma_commit_group()
  end
  return score, weigh
end

-- The probabilities of 16-bit types as words of A: first() makes those of a tile's first block. Of later blocks,
-- early(seen) makes the exponentials while the product with V runs, and late() packs them after it; seen: each row has
-- a score in the block. Both call prepare(), behind the sums of the exponentials, which returns what packs them with
-- dropout, or nil.
local function weights_of(k, p, soft, scores, words, acc)
  local convert, rescale, pack_kept = elements.to_output[p.dtype], nil, nil
  local function pack()
    if pack_kept then return pack_kept(words) end
    for i = 0, #words - 1 do k:mov(words[i], convert(k, scores[2 * i], scores[2 * i + 1])) end
  end
  return {
    first = function(prepare)
      soft:first()
      pack_kept = prepare()
      pack()
    end,
    early = function(seen, prepare)
      rescale = soft:next(seen)
      pack_kept = prepare()
    end,
    late = function()
      pack() -- before the branch: behind it, ptxas (13.0) begins to pack when all exponentials are there
      rescale(acc)
    end,
  }
end

-- What a consumer has: what all roles have, its number among the consumers, its accumulators, products, softmax and
-- place in the rings.
local function consumer_of(g)
  local k, p, rings, me = g.k, g.p, g.rings, setmetatable({}, { __index = g })
  local thread = k:special "tid.x"
  me.thread, me.lane = thread, thread & 31
  me.number = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
  me.leader = (thread & 127):eq(0)
  me.sharing = p.split_columns and p.cluster or 1 -- CTAs that get the same keys
  me.query_tile = p.split_columns and k:special "cluster_ctarank" or me.number -- of 64 queries
  me.scores, me.acc = k:regs("f32", p.block // 2), k:regs("f32", (p.columns + p.ones) // 2)
  local probabilities = k:regs("b32", 4 * p.block // p.k_step)
  me.score, me.weigh = products(g, me.scores, probabilities, me.acc)
  me.factors = fp8.factors(g)
  me.random = p.dropout and dropout.generator(k, me.sizes)
  me.soft = k:softmax {
    scores = me.scores, scale = me.factors.scale, lift = p.lift,
    empty = (p.causal or p.packed or p.page or p.window or p.mask or p.score) and true,
  }
  me.weights = (p.fp8 and fp8_weights.emit or weights_of)(k, p, me.soft, me.scores, probabilities, me.acc)
  me.turns = k:turns { members = p.consumers, member = me.number, barrier = 1 }
  me.query, me.key, me.value = rings.q:cursor(), rings.k:cursor(), rings.v:cursor()
  if p.split_columns then
    k:mov(me.value.stage, me.number) -- stages of V: one for each consumer
    return me
  end
  k:mov(me.query.stage, me.number) -- stages of the queries: one for each consumer, then those of the next tile
  return me
end

-- Issues the scores of a block whose first keys have arrived; the last part of them is left to next_keys.
local function score_block(me)
  for part = 0, me.p.parts - 1 do
    if part > 0 then
      me.earlier = { stage = me.k:mov(me.key.stage, { type = "u32" }) }
      me.rings.k:advance(me.key)
      pages.wait(me, me.rings.k, me.key)
    end
    me.score(me.query, me.key, part)
  end
end

-- Goes on from the keys of a block, whose scores are in flight, and returns what gives their stage back. Of 8-bit
-- types, whose products are short, it also waits for the next keys, while these scores are computed.
local function next_keys(me, at)
  local k, ring = me.k, me.rings.k
  local scored = { stage = k:mov(me.key.stage, { type = "u32" }) }
  ring:advance(me.key)
  if me.p.fp8 then k:if_(me.walk.block:gt(at.first), function() ring:wait(me.key) end) end
  return function() ring:release(scored, { lane = me.lane, cluster = me.sharing }) end
end

-- Waits for the scores, behind which so many groups of products have been issued. The keys of their first part go back
-- first.
local function wait_for_scores(me, behind)
  if me.p.parts == 2 then
    me.k:wgmma_wait_group(behind + 1)
    me.rings.k:release(me.earlier, { lane = me.lane, cluster = me.sharing })
  end
  me.k:wgmma_wait_group(behind)
end

local function release_values(me)
  me.rings.v:release(me.value, { lane = me.lane, cluster = me.sharing })
  me.rings.v:advance(me.value)
  if me.p.split_columns then me.rings.v:advance(me.value) end -- past that of the other consumer
end

-- The scores of the tile's first block, which is its last keys.
local function first_block(me, at, scored, hide)
  local k = me.k
  me.walk = scheduler.walk(me, at)
  me.rings.q:wait(me.query)
  pages.wait(me, me.rings.k, me.key)
  me.turns:take()
  score_block(me)
  me.turns:pass()
  me.walk.look_ahead()
  local release_keys = next_keys(me, at)
  for i = 0, #me.acc - 1 do k:mov(me.acc[i], 0.0) end
  wait_for_scores(me, 0)
  release_keys()
  scored(me.walk.block)
  hide(me.walk.block)
  me.weights.first(me.prepare)
  if me.p.page then pages.clear_values(me, at) end
end

-- The scores of one more block, while the probabilities of the block before are multiplied with V. clear: `causal` and
-- `window` hide nothing in it, nor does `mask` where `block_mask` has found the block.
local function step(me, at, scored, hide, clear)
  local k, p = me.k, me.p
  me.walk.step()
  if not p.fp8 then pages.wait(me, me.rings.k, me.key) end
  me.turns:take()
  score_block(me)
  pages.wait(me, me.rings.v, me.value)
  me.weigh(me.value)
  me.turns:pass()
  me.walk.look_ahead()
  local release_scored = next_keys(me, at)
  wait_for_scores(me, 1)
  release_scored()
  scored(me.walk.block, clear and p.block_mask)
  if (p.causal or p.window) and not clear then hide(me.walk.block) end
  me.weights.early(clear and not p.score and (not p.mask or p.block_mask ~= nil), me.prepare)
  k:wgmma_wait_group(0)
  release_values(me)
  me.weights.late()
end

-- The main loop: calls body(clear), which steps to the next block, until that is the tile's first one. Keys are
-- hidden from some of the tile's queries at both ends of what these see: behind a query's own place, and before its
-- window. Where `block_mask` finds blocks of which nothing is hidden, these have a body of their own: behind a branch
-- within a body, ptxas (13.0) puts exponentials after the product that they should run beside.
local function each_step(me, at, body)
  local k, p, block = me.k, me.p, me.walk.block
  local function down_to(limit, emit) k:while_(function() return block:gt(limit) end, emit) end
  local function masked() body(false) end
  local function clear() body(true) end
  local function inside(limit) return (p.window or p.splits > 1) and k:max(limit, at.first) or limit end
  if p.block_mask then
    return down_to(at.first, function()
      local is_clear = me.walk.clear()
      if is_clear then k:if_(is_clear, clear, masked) else masked() end
    end)
  end
  if at.clear_to then down_to(inside(at.clear_to), masked) end
  down_to(p.window and inside(at.clear_from) or at.first, clear)
  if p.window then down_to(at.first, masked) end
end

-- The last block's probabilities times V. Leaves O in `acc`, and stores the log-sum-exp of the rows.
local function last_product(me, at, output, value_factor)
  local k, p, weights, extra = me.k, me.p, me.weights, sink.load(me.k, me.p, me.sizes, at.head)
  if p.fp8 then me.rings.q:release(me.query, { lane = me.lane }) end
  pages.wait(me, me.rings.v, me.value)
  me.weigh(me.value)
  local inverse, logarithm
  if not weights.finish then inverse, logarithm = me.soft:finish(extra) end -- overlaps with the product
  local row = output.row(at)
  if p.lse then output.store_lse(at, row, logarithm) end
  k:wgmma_wait_group(0)
  release_values(me)
  if weights.finish then inverse = weights.finish(extra) end
  for _, factor in ipairs { value_factor or false, p.dropout and me.sizes.kept_factor } do
    for half = 0, factor and 1 or -1 do inverse[half] = inverse[half] * factor end
  end
  k:fragment(me.acc):map(function(x, here) return x * inverse[here.half] end)
  return row
end

-- The products of a part of the keys, which may be none, where the CTAs of a cluster share a tile.
local function part(me, at, scored, hide)
  local k = me.k
  for half = 0, 1 do
    k:mov(me.soft.top[half], -math.huge)
    k:mov(me.soft.sum[half], 0.0)
  end
  for i = 0, #me.acc - 1 do k:mov(me.acc[i], 0.0) end
  k:if_(at.some, function()
    first_block(me, at, scored, hide)
    each_step(me, at, function(clear) step(me, at, scored, hide, clear) end)
    pages.wait(me, me.rings.v, me.value)
    me.weigh(me.value)
    k:wgmma_wait_group(0)
  end)
end

--- The role of a consumer.
function module.emit(g)
  local p, me = g.p, consumer_of(g)
  local output = attention_output.emit(me)

  g.scheduler.each(function(at)
    local hide, scored = scheduler.hider(me, at), attention_scores.emit(me, at)
    local drop = p.dropout and dropout.emit(me, at, output.row(at))
    function me.prepare() return drop and drop(me.walk.block) end
    if p.splits > 1 then
      part(me, at, scored, hide)
      return splits.join(me, at, output)
    end
    local value_factor = me.factors.load(at)
    first_block(me, at, scored, hide)
    output.free_queries_before()
    each_step(me, at, function(clear) step(me, at, scored, hide, clear) end)
    local row = last_product(me, at, output, value_factor)
    output.store(at, row)
    g.rings.q:skip(me.query, p.query_tiles)
  end)
  me.turns:finish()
  output.finish()
end

return module
