-- A consumer of a product: a warpgroup that multiplies the stages of the ring by wgmma, with the main loop of its kind
-- (dense, sparse, block_scaled), and gives the sums of each tile to an epilogue. Here is what consumers of all kinds
-- have: their share of a tile, the descriptors of their operands, their accumulators and turns.

local division = require "wgrun.builder.division"
local sparse = require "wgrun.mainloop.sparse"
local tail = require "wgrun.mainloop.tail"
local descriptors = require "wgrun.tile.descriptors"

local module = {}

local divided = division.divided

-- The CTA where this lane releases stages, in a cluster along M and N: a multicast producer of this CTA's stages. The
-- first lanes have the CTAs along M, from where B comes, the others those along N, from where A comes. The CTA itself
-- is one of the first.
local function multicast_producer_of(k, p, lane)
  local rank = k:special "cluster_ctarank"
  local row, column = division.remainder(k, rank, p.cluster_m), divided(k, rank, p.cluster_m)
  local other = lane - p.cluster_m
  local across = row + k:selp_b32(other + 1, other, other:ge(column), { type = "u32" }) * p.cluster_m
  return k:selp_b32(column * p.cluster_m + lane, across, lane:lt(p.cluster_m), { type = "u32" })
end

-- Which consumer this is: its number, and place(work, place, row, column), the first of its rows of a tile and the
-- tile's first column; row and column are the tile's, if place() has been called before. `shares`: consumers share a
-- tile.
local function consumer_of(k, p)
  local thread = k:special "tid.x"
  local me = { lane = thread & 31, shares = not p.pingpong and p.consumers > 1 }
  if p.cluster_m > 1 and p.cluster_n > 1 then me.multicast_producer = multicast_producer_of(k, p, me.lane) end
  me.number = k:shfl_sync_idx_b32((thread >> 7) - 1, 0, 31) -- tells the assembler that all lanes have the same number
  function me.place(work, place, row, column)
    if not row then row, column = place() end
    if not me.shares then return row, column end
    local rows = 64 * p.blocks
    return row + me.number * tail.without(k, work.tail_m, rows, rows // 2), column
  end
  return me
end

-- The consumer's operands. A share of the tile is `blocks` blocks of 64 rows, the descriptor of their A, and the way to
-- their metadata; `whole` is the share of a tile, `tail` that of a tail tile. of_stage(stage, share) gives the
-- descriptors of A and B in a stage.
local function operands_of(g, me)
  local k, p = g.k, g.p
  local function share_of(blocks)
    local first = me.shares and me.number * ((p.a:descriptor(0, 0, 64 * blocks) - p.a:descriptor(0)) << 4) or nil
    return {
      blocks = blocks, a = k:descriptor(g.buffers.a, { offset = first }),
      metadata = p.sparse and sparse.load_metadata(k, p, g.buffers.metadata, me.shares and me.number, blocks),
    }
  end
  local operands = { whole = share_of(p.blocks) }
  operands.tail = p.tail_m and share_of(p.blocks // 2) or operands.whole
  local b = k:descriptor(g.buffers.b)
  function operands.of_stage(stage, share)
    return descriptors.of(k, p.a, share.a, stage), descriptors.of(k, p.b, b, stage)
  end
  return operands
end

--- Accumulators of blocks of 64 rows, each register under its neighbour's number.
local function neighbours_swapped(acc)
  local out = {}
  for block, sums in ipairs(acc) do
    out[block] = {}
    for r = 0, #sums - 1 do out[block][r] = sums[r ~ 1] end
  end
  return out
end

-- The accumulators of each block of 64 rows; and those that are added to the sums of other slices of K.
local function accumulators(k, p)
  local acc, added = {}, {}
  for block = 1, p.blocks do
    local sums = k:regs(p.accumulator, p.width // 2)
    acc[block], added[block] = sums, sums
  end
  -- Sums that are sent by fours lie in aligned registers, as the products of mainloop/block_scaled.lua do. There
  -- neighbours change places, so that an addition reads its product and its sum from different register banks.
  if p.block_scaled and p.slices > 1 then acc = neighbours_swapped(acc) end
  return acc, added
end

-- Consumers with tiles of their own (ping-pong) take turns: one multiplies while the other stores. Turns also keep a
-- consumer from waiting for a phase that is not the next one to complete: a parity cannot tell the two apart.
local function turns_of(g, me)
  local k, p, buffer = g.k, g.p, g.buffers.turns
  local function nothing() end
  if not p.pingpong then return { take = nothing, pass = nothing, skip = nothing } end
  local own, other = k:address(buffer, me.number << 3), k:address(buffer, (me.number ~ 1) << 3)
  local phase = me.number ~ 1 -- the first consumer begins
  local first_lane = (k:special "tid.x" & 31):eq(0)
  local blocks = divided(k, g.sizes.K + (p.block_k - 1), p.block_k)
  local function skip() g.ring:skip(me.cursor, blocks) end -- the stages of the other consumer's tile
  k:if_(me.number:ne(0), skip)
  return {
    take = function()
      k:mbarrier_wait(own, phase)
      k:xor(phase, phase, 1)
    end,
    pass = function() k:mbarrier_arrive(other, { guard = first_lane }) end,
    skip = skip,
  }
end

-- A consumer none of whose rows belong to the group multiplies nothing. passed(work): what its kind does then.
local function pass_by(g, me, work, passed)
  local ring, cursor = g.ring, me.cursor
  me.turns.take()
  g.k:loop({ from = work.from, to = work.to, step = g.p.block_k }, function()
    ring:wait(cursor)
    ring:release(cursor, { lane = me.lane, cluster = g.p.multicast_producers, to = me.multicast_producer })
    ring:advance(cursor)
  end)
  me.turns.pass()
  me.turns.skip()
  if passed then passed(work) end
end

--- The first row of a consumer's block of 64 rows.
function module.row_of(block, row) return block == 1 and row or row + 64 * (block - 1) end

--- Returns store(work, row, column), which stores the sums of a tile, `acc`, or where it is a slice of K adds them
--- to those of the other slices first (`added`). store_block(sums, row, column, limit, c, tail) stores 64 rows, as
--- k:epilogue's store; complete(row), if it is given, comes behind the last of a whole tile.
function module.store_tile(g, me, acc, added, store_block, complete)
  local k, p = g.k, g.p
  local reduce = p.reduction and p.reduction.consumer(g, me)

  local function store_all(work, row, column, sums)
    tail.each(k, work.tail_m, p.blocks, function(from, to)
      for block = from, to do
        store_block((sums or acc)[block], module.row_of(block, row), column, work.limit, nil, work.tail_n)
      end
    end)
    if complete and not work.tail_m then complete(row) end
  end

  return function(work, row, column)
    local function store(sums, first)
      store_all(
        work, row, first and column + first or column, sums and p.block_scaled and neighbours_swapped(sums) or sums)
    end
    if not work.slice then return store() end
    reduce(added, work, store)
  end
end

--- The role of a consumer. epilogue(me, acc, added) returns what becomes of the sums (as gemm/epilogue.lua); me has
--- `number`, the consumer's, place(work, place), `lane` and `cursor`; and finish(), where a reduction has something to
--- do at the end.
function module.emit(g, epilogue)
  local k, p = g.k, g.p
  local me = consumer_of(k, p)
  me.operands = operands_of(g, me)
  local acc, added = accumulators(k, p)
  me.cursor = g.ring:cursor { held = (p.block_scaled or p.emulated) ~= nil }
  me.turns = turns_of(g, me)
  local output = epilogue(me, acc, added)
  local sum, complete, passed = p.kind.consumer(g, me, acc, output.fetch_early)

  local function work_on(place, work)
    local row, column = sum(work, place)
    row, column = output.begin(work, place, row, column) -- overlaps with the last block's product
    complete()
    me.turns.skip()
    output.store(work, row, column)
  end

  local may_pass_by = p.groups and (me.shares or p.cluster > 1)
  p.scheduler.each(g, p.pingpong and { first = me.number, every = 2 } or {}, function(place, work)
    if not may_pass_by then return work_on(place, work) end
    local row = me.place(work, place)
    k:if_(row:lt(work.limit), function() work_on(place, work) end, function() pass_by(g, me, work, passed) end)
  end)
  output.finish()
  if me.finish then me.finish() end
end

return module
