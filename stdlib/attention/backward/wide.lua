-- A consumer of wg.attention_backward for heads of more than 128 elements, whose dK and dV of 64 keys don't fit into
-- the registers of one warpgroup: it has half of their columns, and of dQ's. Each consumer computes the scores of half
-- of a block's queries; P^T and dS^T of both halves meet in shared memory, and are A of the other products: dS^T, keys
-- x queries, is A of dK and, transposed, A of dQ.
--
--   tensor cores   S^T  dP^T                        | dV  dQ  dK
--   CUDA cores          P^T = exp ...   dS^T = ...  |         dQ to global memory
--                                                   ^ both consumers meet

local backward_block = require "wgrun.attention.backward.block"
local scheduler = require "wgrun.attention.backward.scheduler"
local descriptors = require "wgrun.tile.descriptors"

local module = {}

-- The products of one consumer, each a commit group.
local function products(k, p, buffers, at, mine, acc)
  local function view(buffer, tile, offset) return descriptors.view(k, buffer, tile, offset) end
  local keys, values = view(buffers.k, p.k)(), view(buffers.v, p.k)()
  local half_of_queries = k:mul(mine, p.part * p.q_lines.line_bytes)
  local q, gradient = view(buffers.q, p.q, half_of_queries), view(buffers.gradient, p.q, half_of_queries)
  local half_of_columns = k:mul(mine, p.dim * p.rows) -- of each of 64 lines, in bytes
  local q_columns, gradient_columns = view(buffers.q, p.q_columns, half_of_columns),
    view(buffers.gradient, p.q_columns, half_of_columns)
  local probabilities, ds, ds_columns = view(buffers.p, p.ds), view(buffers.ds, p.ds), view(buffers.ds, p.ds_columns)

  local out = {}
  local function multiply(d, a, b, steps, form)
    for step = 0, steps - 1 do
      backward_block.multiply(k, p, d, a(step), b(step), {
        n = form.n, scale_d = step == 0 and form.fresh and 0 or 1, trans_a = form.trans_a or 0,
        trans_b = form.trans_b or 0,
      })
    end
  end
  local function product(...)
    multiply(...)
    k:wgmma_commit_group()
  end
  local of_columns, half = p.rows // 16, p.dim // 2
  function out.scores(stage) product(acc.s, keys, q(stage), p.dim // 16, { n = p.part, fresh = true }) end
  function out.dp(stage) product(acc.dp, values, gradient(stage), p.dim // 16, { n = p.part, fresh = true }) end
  function out.dv(from, stage)
    product(acc.dv, probabilities(from), gradient_columns(stage), of_columns, { n = half, trans_b = 1 })
  end
  function out.dk(from, stage)
    product(acc.dk, ds(from), q_columns(stage), of_columns, { n = half, trans_b = 1 })
  end
  local form, steps = { n = 2 * #acc.dq, fresh = true, trans_a = 1, trans_b = 1 }, p.own_keys // 16
  if p.cluster == 1 then
    local key_columns = view(buffers.k, p.k_columns, half_of_columns)()
    function out.dq(from) product(acc.dq, ds_columns(from), key_columns, steps, form) end
    return out
  end
  -- The consumer's columns of the CTA's own keys, and of the other CTA's.
  local columns = p.dim // p.shares * p.own_keys * 2 -- in bytes
  local key_columns = view(buffers.k, p.k_columns, k:mul(at.rank * p.consumers + mine, columns))()
  local other_columns = view(buffers.other_k, p.half_k_columns, k:mul(mine, columns))()
  local other_ds = view(buffers.other_ds, p.ds_columns)
  function out.dq(from)
    multiply(acc.dq, ds_columns(from), key_columns, steps, form)
    product(acc.dq, other_ds(from), other_columns, steps, { n = form.n, trans_a = 1, trans_b = 1 })
  end
  return out
end

--- What a consumer has: its number, accumulators, products, and what makes P^T and dS^T of the scores and dP^T; its
--- places in the rings.
function module.consumer(g)
  local k, p, buffers, me = g.k, g.p, g.buffers, backward_block.consumer(g)
  local half = p.dim // 2
  local acc = {
    s = k:regs("f32", p.part // 2), dp = k:regs("f32", p.part // 2), dk = k:regs("f32", half // 2),
    dv = k:regs("f32", half // 2), dq = k:regs("f32", p.share_bytes // 512),
    p16 = k:regs("b32", p.part // 4), ds16 = k:regs("b32", p.part // 4),
  }
  me.acc, me.product = acc, products(k, p, buffers, g.at, me.number, acc)
  backward_block.prepare(me, g.at.own)

  -- Where the thread finds its queries' stats, and puts its pieces of P^T and dS^T: blocks of 8 x 8, four for each
  -- stmatrix, whose lines in shared memory are keys of 64 queries.
  local lane = me.lane
  me.stats_at = k:address(buffers.stats, me.number * (4 * p.part)) + ((lane & 3) << 3)
  me.in_tile = ((me.warp << 4) + (lane & 15)) * 128 + (((((me.number << 2) + (lane >> 4)) ~ (lane & 7))) << 4)
  return me
end

--- Writes the thread's words of P^T or dS^T to that stage of `buffer`.
function module.put(me, buffer, words, stage)
  local k = me.k
  local to = k:address(buffer) + stage * me.p.ds.bytes + me.in_tile
  for i = 0, #words // 4 - 1 do k:stmatrix_x4(i == 0 and to or to ~ (2 * i << 4), words:slice(4 * i, 4)) end
end

-- P^T and dS^T of the consumer's half of a block of queries: its scores are in flight.
local function compute_half(me, block)
  local k, product, buffers = me.k, me.product, me.buffers
  me.rings.gradient:wait(me.gradient)
  local stats = me.stats_at + me.gradient.stage * me.p.stats_bytes
  k:wgmma_fence()
  product.dp(me.gradient.stage)
  k:wgmma_wait_group(1) -- the scores are complete, and dK of the block before
  backward_block.release_queries(me)
  me.finish_scores(block * me.p.rows + me.number * me.p.part)
  me.exponentials(stats)
  module.put(me, buffers.p, me.acc.p16, me.stage)
  k:wgmma_wait_group(0)
  me.gradients(stats)
  module.put(me, buffers.ds, me.acc.ds16, me.stage)
end

-- The consumer's columns of dV, dQ and dK, as soon as both halves have arrived. P and dS have two stages: a consumer
-- that writes to one of them has met the other one here since that one read it.
local function multiply_both(me, block, head)
  local k, p, product = me.k, me.p, me.product
  backward_block.meet(me)
  product.dv(me.stage, me.gradient.stage)
  product.dq(me.stage)
  product.dk(me.stage, me.query.stage)
  k:wgmma_wait_group(1)
  me.rings.gradient:release(me.gradient, { lane = me.lane })
  me.add(me.acc.dq, scheduler.number(p, me.at, block, head))
  k:xor(me.stage, me.stage, 1)
end

--- The role of a consumer.
function module.emit(g)
  local me = module.consumer(g)
  backward_block.each_block(me, nil, function(block, head)
    me.product.scores(me.query.stage)
    compute_half(me, block)
    multiply_both(me, block, head)
  end)
  backward_block.store(me, g.at.own, me.number * (g.p.dim // 2))
end

return module
