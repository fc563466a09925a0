-- A consumer of wg.attention_backward for wide heads, in a cluster of two CTAs. As in attention/backward/wide.lua, but
-- dQ of both CTAs' keys is one product. Each CTA has half of its columns, and each consumer a quarter, so that half as
-- many sums go to global memory. dQ of a block is computed one block later, so that the exchange of dS takes no time,
-- while dS of the next block is made. It goes to global memory still one block later, and not at once: between products
-- that take their time.
--
--   block        i
--   tensor cores S^T   dP^T   dQ of i - 1               dV   dK
--   CUDA cores                P^T = exp ...  dS^T = ...    |
--   memory           | dQ of i - 2  |      |               | dS to the other CTA
--                                                          ^ both consumers meet

local backward_block = require "wgrun.attention.backward.block"
local exchanges = require "wgrun.attention.backward.exchange"
local scheduler = require "wgrun.attention.backward.scheduler"
local wide = require "wgrun.attention.backward.wide"

local module = {}

local none = 0xFFFFFFFF -- the number of no block

-- Starts dQ of the block whose dS was exchanged last.
local function start_dq(me)
  me.exchange.wait()
  me.k:wgmma_fence()
  me.product.dq(me.exchange.read.stage)
end

-- Adds a quarter of what was dQ of block `number`: reductions that come all at once hold up the copies of all SMs.
local function add_quarter(me, number, quarter)
  local fours = #me.held // 4
  me.add(me.held, number, {
    guard = number:ne(none), first = fours * (quarter - 1) // 4, last = fours * quarter // 4 - 1,
  })
end

-- Keeps dQ, which is complete, in registers that are no accumulators: ptxas would have a read of these wait for all
-- products in flight.
local function hold_dq(me)
  for i = 0, #me.held - 1 do me.k:mov(me.held[i], me.acc.dq[i]) end
end

local function work(me, block, head)
  local k, p, product, buffers, exchange = me.k, me.p, me.product, me.buffers, me.exchange
  local of_cluster = { lane = me.lane, cluster = p.cluster }
  product.scores(me.query.stage)
  add_quarter(me, me.complete, 1)
  me.rings.gradient:wait(me.gradient)
  local stats = me.stats_at + me.gradient.stage * p.stats_bytes
  k:wgmma_fence()
  product.dp(me.gradient.stage)
  add_quarter(me, me.complete, 2)
  start_dq(me)
  k:wgmma_wait_group(2) -- the scores are complete, and dK of the block before
  backward_block.release_queries(me)
  me.finish_scores(block * p.rows + me.number * p.part)
  me.exponentials(stats)
  wide.put(me, buffers.p, me.acc.p16, me.stage)
  add_quarter(me, me.complete, 3)
  k:wgmma_wait_group(1)
  me.gradients(stats)
  exchange.acquire()
  local stage = exchange.write.stage
  wide.put(me, buffers.ds, me.acc.ds16, stage)
  backward_block.meet(me)
  product.dv(me.stage, me.gradient.stage)
  product.dk(stage, me.query.stage)
  exchange.send()
  add_quarter(me, me.complete, 4)
  k:wgmma_wait_group(2)
  exchange.release()
  hold_dq(me)
  k:mov(me.complete, me.exchanged)
  k:mov(me.exchanged, scheduler.number(p, me.at, block, head))
  k:wgmma_wait_group(1)
  me.rings.gradient:release(me.gradient, of_cluster)
  k:xor(me.stage, me.stage, 1)
end

--- The role of a consumer.
function module.emit(g)
  local k, p, me = g.k, g.p, wide.consumer(g)
  me.exchange, me.held = exchanges.consumer(me), k:regs("f32", #me.acc.dq)
  me.complete, me.exchanged = k:mov(none, { type = "u32" }), k:mov(none, { type = "u32" })
  for i = 0, #me.held - 1 do k:mov(me.held[i], 0.0) end
  me.exchange.begin()
  backward_block.each_block(me, nil, function(block, head) work(me, block, head) end)
  for quarter = 1, 4 do add_quarter(me, me.complete, quarter) end
  start_dq(me)
  k:wgmma_wait_group(0)
  hold_dq(me)
  for quarter = 1, 4 do add_quarter(me, me.exchanged, quarter) end
  backward_block.store(me, g.at.own, me.number * (p.dim // 2))
end

return module
