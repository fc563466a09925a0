-- The main loop of dense operands. It keeps one product in flight while it waits for the next stage, and releases a
-- stage when the product behind it has begun:
--
--   wait for stage s       wgmma s      wait_group(1): s - 1 is complete    release s - 1
--   wait for stage s + 1   wgmma s + 1  wait_group(1): s is complete        release s
--
-- A kind of main loop is a table of these functions; the other kinds (sparse, block_scaled) take from this one what
-- they leave as it is.
--
--   plan(p, opts)         adds what the kind needs to a plan (mainloop/plan.lua); raises for what contradicts it
--   more_bytes(p)         of a stage, besides A and B
--   parameters(p, add)    the kernel's parameters besides A and B (builder/parameters.lua)
--   sizes(k, p, sizes)    changes the extents as the kernel gets them
--   shared(k, p)          its buffers in shared memory, by name
--   producer(g, copies)   what a producer copies besides A and B: before(to, row, first_k, stage, barrier), of a block
--                         of K, and with_a(row), which returns the same for some blocks of 64 rows of a tile; `bytes`
--                         and `bytes_with_a` of a stage
--   consumer(g, me, acc, begun)  returns sum(work, place), which leaves a tile's sums in the accumulators, and
--                         complete(), which waits for them and releases the last stage; and passed(work), if it does
--                         something for a work unit that the consumer passes by. begun(work, place) is called behind a
--                         tile's first product

local tail = require "wgrun.mainloop.tail"

local dense = { packed = 1 } -- packed: elements of A's K for each that is stored

function dense.plan(p) p.round_k = p.block_k end
function dense.more_bytes() return 0 end
function dense.parameters() end
function dense.sizes() end
function dense.shared() return {} end
function dense.producer() return { bytes = 0, bytes_with_a = 0 } end

-- acc[i] += (rows of block i) * B for `blocks` blocks and one stage, as one commit group; of B, as many rows as there
-- are accumulators for. A sparse A stores half of its K; metadata(block, step) gives the register and the selector of
-- its indices.
local function multiply(k, p, blocks, acc, a, b, first, metadata)
  local packed = p.kind.packed
  local form = { n = 2 * #acc[1], k = packed * p.k_step, d = p.accumulator, a = p.dtype, b = p.dtype }
  if p.k_step == 16 then
    form.trans_a, form.trans_b = p.a_major == "MN" and 1 or 0, p.b_major == "MN" and 1 or 0
  end
  for step = 0, p.block_k // form.k - 1 do
    form.scale_d = step == 0 and first or 1
    local b_step = b(packed * step)
    for block = 1, blocks do
      local a_step = a(step, 64 * (block - 1))
      if metadata then
        local words, selector = metadata(block, step)
        form.sp_sel = selector
        k:wgmma_mma_async_sp(acc[block], a_step, b_step, words, form)
      else
        k:wgmma_mma_async(acc[block], a_step, b_step, form)
      end
    end
  end
  k:wgmma_commit_group()
end

function dense.consumer(g, me, acc, begun)
  local k, p, ring, cursor = g.k, g.p, g.ring, me.cursor
  local operands, previous = me.operands, { stage = k:reg "u32" }
  local left = p.tail_n and tail.left(p, acc) or acc
  k:mov(previous.stage, 0)

  local function block_of_k(share, sums, work, place, first_k, set)
    ring:wait(cursor)
    local indices = share.metadata and share.metadata(set, cursor.stage)
    k:wgmma_fence()
    local later = set == 1 and first_k:gt(work.from) or nil -- nil: certainly not the first of the work unit
    local a, b = operands.of_stage(cursor.stage, share)
    multiply(k, p, share.blocks, sums, a, b, later or 1, indices)
    if begun and set == 1 then k:if_(first_k:eq(work.from), function() begun(work, place) end) end
    k:wgmma_wait_group(1) -- the previous block is complete: its stage is free
    ring:release(
      previous, { lane = me.lane, cluster = p.multicast_producers, to = me.multicast_producer, guard = later })
    k:mov(previous.stage, cursor.stage)
    ring:advance(cursor)
  end

  local function sum(work, place)
    local function whole_k(share, sums)
      k:loop({ from = work.from, to = work.to, step = p.round_k }, function(first_k)
        for set = 1, p.round_k // p.block_k do block_of_k(share, sums, work, place, first_k, set) end
      end)
    end
    me.turns.take()
    tail.either(k, work.tail_m or work.tail_n, function() whole_k(operands.tail, left) end, function()
      whole_k(operands.whole, acc)
    end)
    me.turns.pass()
  end

  return sum, function()
    k:wgmma_wait_group(0)
    ring:release(previous, { lane = me.lane, cluster = p.multicast_producers, to = me.multicast_producer })
  end
end

return dense
