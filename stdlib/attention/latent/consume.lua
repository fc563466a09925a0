-- A consumer of wg.mla_decode: a warpgroup with half of the columns of O (FlashMLA 2025). Of each two blocks of keys,
-- each warpgroup makes the scores and probabilities of one; both weigh the values of both, each its columns. The
-- probabilities take the place of the block's last panel, which is no part of V. So while one warpgroup computes
-- exponentials, the other one multiplies:
--
--   first    exponentials of 0 | values of 0       | values of 1   | scores of 2
--   second   scores of 1       | values of 0; exponentials of 1    | values of 1   | scores of 3
--
-- Both keep the same running maximum of each row: the one that makes a block's probabilities tells the other one.

local decode_finish = require "wgrun.attention.decode.finish"
local finish = require "wgrun.attention.latent.finish"
local division = require "wgrun.builder.division"
local descriptors = require "wgrun.tile.descriptors"
local elements = require "wgrun.tile.elements"

local module = {}

-- Named barriers: the probabilities of the first and of the second warpgroup are there; all meet; one alone.
local shared_by, all, alone = { 1, 2 }, 3, { 4, 5 }

local function signed(k, x) return k:mov(x, { type = "s32" }) end

-- The products of a consumer, each a commit group: scores of a block, and its probabilities times the half of its
-- values, where the probabilities are in registers or come from the other consumer.
local function products(me)
  local k, p, g, number = me.k, me.p, me.g, me.number
  local function view(tile, offset)
    local first = k:matrix_descriptor(k:address(g.buffers.kv, offset), tile:descriptor(0) & ~0x3FFF)
    return function(stage) return descriptors.of(k, tile, k:mad_wide_u32(stage, p.k.bytes >> 4, first)) end
  end
  local q = descriptors.of(k, p.q, k:descriptor(g.buffers.q))
  local keys, values, probabilities = view(p.k, 0), view(p.v, 0), view(p.p, 8 * p.panel_bytes)
  local function form(n, scale_d, trans_a, trans_b)
    return {
      n = n, k = 16, d = "f32", a = p.dtype, b = p.dtype, scale_d = scale_d, trans_a = trans_a, trans_b = trans_b,
    }
  end

  function me.score(cursor)
    local b = keys(cursor.stage)
    for i, piece in ipairs(g.pieces) do
      me.arrived(piece, cursor)
      if i == 1 then k:wgmma_fence() end
      for step = 4 * piece.first, 4 * (piece.first + piece.panels) - 1 do
        k:wgmma_mma_async(me.scores, q(step), b(step), form(p.block, step == 0 and 0 or 1, 0, 0))
      end
    end
    k:wgmma_commit_group()
  end

  -- trans_a: 0 of operands in shared memory; those in registers have none.
  local function weigh(cursor, of_step, trans_a)
    local b = values(cursor.stage)
    for _, piece in ipairs(g.pieces) do
      if piece.readers[number + 1] then me.arrived(piece, cursor) end
    end
    k:wgmma_fence()
    for step = 0, p.block // 16 - 1 do
      k:wgmma_mma_async(
        me.acc, of_step(step), b(step, number * (p.value_dim // 2)), form(p.value_dim // 2, 1, trans_a, 1))
    end
    k:wgmma_commit_group()
  end
  function me.weigh_own(cursor) weigh(cursor, function(step) return me.words:slice(4 * step, 4) end) end
  function me.weigh_other(cursor)
    local a = probabilities(cursor.stage)
    weigh(cursor, function(step) return a(step) end, 0)
  end
end

-- What the consumer `number` has.
local function consumer_of(g, number)
  local k, p = g.k, g.p
  local me = { k = k, p = p, g = g, number = number, thread = k:special "tid.x" & 127 }
  me.lane = me.thread & 31
  me.scores, me.acc = k:regs("f32", p.block // 2), k:regs("f32", p.value_dim // 4)
  me.words = k:regs("b32", p.block // 4)
  me.soft = k:softmax { scores = me.scores, scale = g.sizes.scale_log2 }
  me.row = ((me.thread >> 5) << 4) + (me.lane >> 2) -- the first of the thread's rows, of 64
  me.rows = { [0] = me.row, me.row + 8 }
  me.column = (me.lane & 3) << 1
  me.first_lane = (me.lane & 3):eq(0)
  me.in_panel = ((((me.thread >> 5) << 4) + (me.lane & 15)) << 7) + (((me.lane >> 4) ~ (me.lane & 7)) << 4)
  me.here, me.there = g.pieces[1].ring:cursor(), g.pieces[1].ring:cursor()

  -- A piece of a block is there. What threads copied is not yet visible to wgmma.
  function me.arrived(piece, cursor)
    piece.ring:wait(cursor)
    if p.copies == "rows" then k:fence_proxy_async { space = "shared::cta" } end
  end
  -- Gives the pieces of a block back to the CTA that copies them.
  function me.release(cursor)
    for _, piece in ipairs(g.pieces) do
      if piece.readers[number + 1] and p.cluster > 1 then
        local barrier = k:mapa(piece.ring:empty_barrier(cursor), piece.copier)
        k:mbarrier_arrive(barrier, { space = "shared::cluster", guard = me.lane:eq(0) })
      elseif piece.readers[number + 1] then
        piece.ring:release(cursor, { lane = me.lane })
      end
    end
  end
  -- The first of the CTA's rows among those of the sequence.
  function me.first_row(at)
    local row = at.head * (64 * p.cluster)
    return p.cluster > 1 and row + (k:special "cluster_ctarank" << 6) or row
  end
  function me.advance(cursor) g.pieces[1].ring:advance(cursor) end
  function me.meet() k:bar_sync(all, { threads = 256 }) end
  function me.sync() k:bar_sync(alone[number + 1], { threads = 128 }) end
  products(me)
  return me
end

-- Scores that a row may not see become -inf, in the block whose first key that is.
local function hide(me, first_key)
  local k = me.k
  local first = signed(k, first_key + me.column)
  for half = 0, 1 do
    local limit = me.limits[half] - first
    for r = 2 * half, #me.scores - 1, 4 do
      for i = 0, 1 do k:mov(me.scores[r + i], -math.huge, { guard = limit:le(8 * (r // 4) + i) }) end
    end
  end
end

-- Scores become probabilities, for this consumer in registers, for the other one in shared memory. Returns what makes
-- the sums so far relative to the new maximum.
local function probabilities(me, cursor)
  local k, p = me.k, me.p
  local rescale = me.soft:next()
  for i = 0, #me.words - 1 do
    k:mov(me.words[i], elements.to_output[p.dtype](k, me.scores[2 * i], me.scores[2 * i + 1]))
  end
  local to = k:address(me.g.buffers.kv, 8 * p.panel_bytes) + (cursor.stage * p.k.bytes + me.in_panel)
  for i = 0, #me.words // 4 - 1 do k:stmatrix_x4(i == 0 and to or to ~ (2 * i << 4), me.words:slice(4 * i, 4)) end
  for half = 0, 1 do
    k:st_shared_f32(
      k:address(me.g.buffers.tops, 256 * me.number) + (me.rows[half] << 2), me.soft.top[half],
      { guard = me.first_lane })
  end
  k:fence_proxy_async { space = "shared::cta" }
  k:bar_arrive(shared_by[me.number + 1], { threads = 256 })
  return rescale
end

-- Waits for the other consumer's probabilities, and takes over its maxima. Returns rescale as above.
local function take(me)
  local k, soft, scale, shrink, grown = me.k, me.soft, me.soft.scale, {}, nil
  k:bar_sync(shared_by[2 - me.number], { threads = 256 })
  for half = 0, 1 do
    local top = k:ld_shared_f32(k:address(me.g.buffers.tops, 256 * (1 - me.number)) + (me.rows[half] << 2))
    local more = top:gt(soft.top[half])
    grown = grown and grown | more or more
    shrink[half] = k:ex2_approx_ftz(k:fma(soft.top[half], scale, k:neg(top * scale)))
    k:mul(soft.sum[half], soft.sum[half], shrink[half])
    k:mov(soft.top[half], top)
  end
  local any = k:vote_sync_any_pred(grown)
  return function(acc)
    k:if_(any, function() k:fragment(acc):map(function(x, at) return x * shrink[at.half] end) end)
  end
end

-- Behind the end of a sequence anything may lie in memory, and 0 times infinity is no number: there this consumer's
-- half of the values becomes 0.
local function clear(me, at, block, cursor)
  local k, p = me.k, me.p
  local valid = signed(k, at.length) - signed(k, block * p.block)
  k:if_(valid:lt(p.block), function()
    local base = k:address(me.g.buffers.kv, 4 * me.number * p.panel_bytes) + cursor.stage * p.k.bytes
    local zeros = k:regs("b32", 4)
    for i = 0, 3 do k:mov(zeros[i], 0) end
    for i = 0, 4 * p.panel_bytes // 2048 - 1 do
      local unit = me.thread + 128 * i
      k:st_shared_v4_b32(base + (unit << 4), zeros, { guard = signed(k, unit >> 3 & (p.block - 1)):ge(valid) })
    end
    k:fence_proxy_async { space = "shared::cta" }
    me.sync()
  end)
end

-- The CTA's rows of Q, copied to shared memory by all consumers' threads: 16 bytes each.
local function load_queries(me, at)
  local k, p, g = me.k, me.p, me.g
  local thread = k:special "tid.x" - 128
  local unit, row, words = thread & 7, thread >> 3, {}
  local tile = me.first_row(at)
  local to = k:address(g.buffers.q) + ((row << 7) + ((unit ~ (row & 7)) << 4))
  for down = 0, 1 do
    local line = tile + row + 32 * down
    local from = k:element(g.sizes.Q, (at.batch * p.rows + line) * p.dim + (unit << 3))
    local inside = line:lt(p.rows)
    for panel = 0, p.dim // 64 - 1 do
      local four = k:regs("b32", 4)
      for i = 0, 3 do k:mov(four[i], 0) end
      k:ld_global_v4_b32(four, from, { offset = 128 * panel, guard = inside })
      words[#words + 1] = { four, panel * 8192 + 32 * 128 * down }
    end
  end
  for _, one in ipairs(words) do k:st_shared_v4_b32(to, one[1], { offset = one[2] }) end
  k:fence_proxy_async { space = "shared::cta" }
  me.meet()
end

-- Nothing has been seen yet. limits: the keys that the thread's rows see.
local function begin(me, at)
  local k, p = me.k, me.p
  load_queries(me, at)
  for r = 0, #me.acc - 1 do k:mov(me.acc[r], 0.0) end
  me.limits = {}
  for half = 0, 1 do
    k:mov(me.soft.top[half], decode_finish.nothing)
    k:mov(me.soft.sum[half], 0.0)
    me.limits[half] = signed(k, at.length)
    if p.causal and p.queries > 1 then -- the last query sees all keys, the one before all but the last
      local query = division.divided(k, me.first_row(at) + me.rows[half], p.heads)
      me.limits[half] = me.limits[half] - (p.queries - 1) + signed(k, query)
    end
  end
end

local function wait_for_products(me) me.k:wgmma_wait_group(0) end

-- What the first consumer does with two blocks, of which the second may be missing, and what the second one does. `if_`
-- emits a body for so many blocks that are left; where more are sure to be, they are made without branches.
local steps = {}

steps[0] = function(me, at, block, masked, if_)
  if masked then hide(me, block * me.p.block) end
  local rescale = probabilities(me, me.here)
  rescale(me.acc)
  if masked then clear(me, at, block, me.here) end
  me.weigh_own(me.here)
  if_(2, function()
    local rescale_again = take(me)
    wait_for_products(me)
    me.release(me.here)
    rescale_again(me.acc)
    if masked then clear(me, at, block + 1, me.there) end
    me.weigh_other(me.there)
    wait_for_products(me)
    me.release(me.there)
  end, function()
    wait_for_products(me)
    me.release(me.here)
  end)
  me.next_pair(if_)
  if_(3, function()
    me.score(me.here)
    wait_for_products(me)
  end)
end

steps[1] = function(me, at, block, masked, if_)
  local rescale = take(me)
  rescale(me.acc)
  if masked then clear(me, at, block, me.here) end
  me.weigh_other(me.here)
  if_(2, function()
    if masked then hide(me, (block + 1) * me.p.block) end
    local rescale_again = probabilities(me, me.there)
    wait_for_products(me)
    me.release(me.here)
    rescale_again(me.acc)
    if masked then clear(me, at, block + 1, me.there) end
    me.weigh_own(me.there)
    wait_for_products(me)
    me.release(me.there)
  end, function()
    wait_for_products(me)
    me.release(me.here)
  end)
  me.next_pair(if_)
  if_(4, function()
    me.score(me.there)
    wait_for_products(me)
  end)
end

-- The blocks of a work unit, two at a time: first those of which all rows see all keys, and behind which there are two
-- more.
local function each_pair(me, at, count)
  local k, p = me.k, me.p
  local left, block = signed(k, count), k:mov(at.block, { type = "u32" })
  local hidden = p.causal and p.queries - 1 or 0
  local clear_to = division.divided(k, k:max(at.length, hidden) - hidden, p.block)
  local function copy_cursor(to, from) for _, name in ipairs { "stage", "phase" } do k:mov(to[name], from[name]) end end
  local function look_there()
    copy_cursor(me.there, me.here)
    me.advance(me.there)
  end
  function me.next_pair(if_)
    copy_cursor(me.here, me.there)
    if_(2, function() me.advance(me.here) end)
    look_there()
  end
  look_there()
  local function first_scores()
    me.score(me.number == 0 and me.here or me.there)
    wait_for_products(me)
  end
  if me.number == 0 then first_scores() else k:if_(left:ge(2), first_scores) end
  for _, masked in ipairs { false, true } do
    local function if_(blocks, body, otherwise)
      if not masked then return body() end
      k:if_(left:ge(blocks), body, otherwise)
    end
    k:while_(function()
      return masked and left:gt(0) or left:ge(4) & (block + 2):le(clear_to)
    end, function()
      steps[me.number](me, at, block, masked, if_)
      k:sub(left, left, 2)
      k:add(block, block, 2)
    end)
  end
end

--- The role of the consumer `number`, 0 or 1.
function module.emit(g, work, number)
  local me = consumer_of(g, number)
  work.each_unit(function(at, count)
    begin(me, at)
    each_pair(me, at, count)
    finish.unit(me, at, count, work)
  end)
  finish.parts(me, work)
end

return module
