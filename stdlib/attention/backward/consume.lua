-- A consumer of wg.attention_backward for heads of up to 128 elements. It has 64 of the CTA's keys, and P^T and dS^T go
-- from accumulators to the A operands of dV and dK in registers. A block of queries, or each part of it where its
-- scores would take too many:
--
--   tensor cores   S^T  dP^T                      dV | dQ  dK
--   CUDA cores          P^T = exp ...  dS^T = ...    |     dQ on its way to global memory
--                                                    ^ the consumers meet: dQ needs dS of all keys, from shared memory

local backward_block = require "wgrun.attention.backward.block"
local scheduler = require "wgrun.attention.backward.scheduler"
local descriptors = require "wgrun.tile.descriptors"

local module = {}

-- The products of one consumer, each a commit group.
local function products(k, p, buffers, mine, acc)
  local function view(buffer, tile, offset) return descriptors.view(k, buffer, tile, offset) end
  local function multiply(...) backward_block.multiply(k, p, ...) end
  local line = p.k_lines.line_bytes
  local function mine_of(bytes) return k:mul(mine, bytes) end
  local keys = not p.in_registers and view(buffers.k, p.k, mine_of(64 * line))()
  local values = not p.in_registers and view(buffers.v, p.k, mine_of(64 * line))()
  local q, gradient = view(buffers.q, p.q), view(buffers.gradient, p.q)
  local q_columns, gradient_columns = view(buffers.q, p.q_columns), view(buffers.gradient, p.q_columns)
  local ds = view(buffers.ds, p.ds, p.dq == "rows" and mine_of(64 * 128) or nil)
  local key_columns = view(buffers.k, p.k_columns, p.dq ~= "rows" and mine_of(p.dim * p.keys) or nil)()

  -- The consumer's 64 keys times the queries (or rows of dO) of a part.
  local function by_rows(d, a, b, stage, part)
    local from = b(stage)
    for step = 0, p.dim // 16 - 1 do
      multiply(d, a(step), from(step, part * p.part),
        { n = p.part, scale_d = step == 0 and 0 or 1, trans_a = not p.in_registers and 0 or nil, trans_b = 0 })
    end
    k:wgmma_commit_group()
  end
  -- Sums over the queries of a part.
  local function by_columns(d, words, b, stage, part)
    local from, steps = b(stage), p.part // 16
    for step = 0, steps - 1 do
      multiply(d, words:slice(4 * step, 4), from(step + part * steps), { n = p.dim, scale_d = 1, trans_b = 1 })
    end
    k:wgmma_commit_group()
  end

  local out = {}
  -- Loads the consumer's keys and values into registers, as the A fragments of the products: lane i of a warp points
  -- ldmatrix to row i % 16, and to one of the two units of a K step.
  function out.load()
    local thread = k:special "tid.x"
    local row = ((thread >> 5 & 3) << 4) + (thread & 15)
    local function words_of(name)
      local words = k:regs("b32", p.dim // 4)
      local from = k:address(buffers[name], mine_of(64 * line)) + row * line
      for step = 0, p.dim // 16 - 1 do
        local unit = ((thread >> 4 & 1) + 2 * step) ~ (thread & 7)
        k:ldmatrix_x4(words:slice(4 * step, 4), from + (unit << 4), { trans = 0 })
      end
      return function(step) return words:slice(4 * step, 4) end
    end
    keys = words_of "k"
    values = words_of "v"
  end
  function out.scores(stage, part) by_rows(acc.s, keys, q, stage, part) end
  function out.dp(stage, part) by_rows(acc.dp, values, gradient, stage, part) end
  function out.dv(stage, part) by_columns(acc.dv, acc.p16, gradient_columns, stage, part) end
  function out.dk(stage, part) by_columns(acc.dk, acc.ds16, q_columns, stage, part) end
  -- The consumer's share of dQ of a block.
  function out.dq(stage)
    local from = ds(stage)
    for step = 0, p.keys // 16 - 1 do
      local first = step == 0 and 0 or 1
      if p.dq == "transposed" then
        multiply(
          acc.dq, key_columns(step), from(step),
          { n = p.rows, scale_d = first, trans_a = 1, trans_b = 0 })
      else
        multiply(
          acc.dq, from(step), key_columns(step),
          { n = 2 * #acc.dq, scale_d = first, trans_a = 0, trans_b = 1 })
      end
    end
    k:wgmma_commit_group()
  end
  return out
end

-- What a consumer has: its number, accumulators, products, and what makes P^T and dS^T of the scores and dP^T; its
-- places in the rings.
local function consumer_of(g)
  local k, p, buffers, me = g.k, g.p, g.buffers, backward_block.consumer(g)
  local acc = {
    s = k:regs("f32", p.part // 2), dp = k:regs("f32", p.part // 2), dk = k:regs("f32", p.dim // 2),
    dv = k:regs("f32", p.dim // 2),
    p16 = k:regs("b32", p.part // 4), ds16 = k:regs("b32", p.part // 4),
  }
  local share = p.share_bytes // 512
  acc.dq = share == #acc.dp and acc.dp or k:regs("f32", share) -- the values of dP are used up by then
  me.acc, me.product = acc, products(k, p, buffers, me.number, acc)
  me.key = g.at.key + (me.number << 6) -- its first one
  backward_block.prepare(me, me.key)

  -- Where the thread finds its queries' stats, and puts its pieces of dS: blocks of 8 keys x 8 queries, four for each
  -- stmatrix, whose lines in shared memory are queries.
  local lane = me.lane
  me.stats_at = k:address(buffers.stats) + ((lane & 3) << 3)
  local line = k:address(buffers.ds, me.number * (128 * p.rows)) + (((lane >> 4) << 3) + (lane & 7)) * 128
  me.ds_at = line + ((((me.warp << 1) + (lane >> 3 & 1)) ~ (lane & 7)) << 4)
  return me
end

local function store_ds(me, part)
  local at_stage = me.ds_at + me.stage * me.p.ds.bytes
  for i = 0, me.p.part // 16 - 1 do
    me.k:stmatrix_x4(at_stage, me.acc.ds16:slice(4 * i, 4), { trans = 1, offset = 128 * (me.p.part * part + 16 * i) })
  end
end

-- P^T, dS^T and dV of one part of a block, whose scores are in flight; then those of the next part are. The product for
-- dV follows the store of dS^T: before it, it was measured to cost 4 percent.
local function work(me, part, first_query, stats)
  local k, p, product = me.k, me.p, me.product
  k:wgmma_fence()
  product.dp(me.gradient.stage, part)
  k:wgmma_wait_group(part == 0 and 1 or 2) -- the scores are complete; of part 0 also all before them
  if part == 0 then
    backward_block.release_queries(me)
  end
  me.finish_scores(part == 0 and first_query or first_query + part * p.part)
  me.exponentials(part == 0 and stats or stats + 4 * p.part * part)
  k:wgmma_wait_group(0)
  me.gradients(part == 0 and stats or stats + 4 * p.part * part)
  if part < p.parts - 1 then
    k:wgmma_fence()
    product.scores(me.query.stage, part + 1)
  end
  store_ds(me, part)
  k:wgmma_fence()
  product.dv(me.gradient.stage, part)
  if part < p.parts - 1 then product.dk(me.query.stage, part) end
end

-- dQ of the block, as soon as dS of all consumers has arrived. dS has two stages: a consumer that writes to one of them
-- has met the others here since they read it.
local function add_dq(me, number)
  local k, p = me.k, me.p
  backward_block.meet(me)
  me.product.dq(me.stage)
  me.product.dk(me.query.stage, p.parts - 1)
  k:wgmma_wait_group(1)
  me.rings.gradient:release(me.gradient, { lane = me.lane })
  me.add(me.acc.dq, number)
  if p.drained then k:wgmma_wait_group(0) end
  k:xor(me.stage, me.stage, 1)
end

--- The role of a consumer.
function module.emit(g)
  local p, me = g.p, consumer_of(g)
  backward_block.each_block(me, p.in_registers and me.product.load, function(block, head)
    me.product.scores(me.query.stage, 0)
    g.rings.gradient:wait(me.gradient)
    local stats = me.stats_at + me.gradient.stage * p.stats_bytes
    for part = 0, p.parts - 1 do work(me, part, block * p.rows, stats) end
    add_dq(me, scheduler.number(p, g.at, block, head))
  end)
  backward_block.store(me, me.key)
end

return module
