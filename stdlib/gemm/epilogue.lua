-- The end of a tile in wg.gemm: a consumer's sums become a part of D. With split-K, the CTAs of a cluster reduce their
-- sums (reduction/cluster.lua), or the CTA that comes last adds them up (reduction/memory.lua). Then k:epilogue applies
-- the operations and stores.

local arguments = require "wgrun.arguments"
local plan = require "wgrun.epilogue.plan"
local consume = require "wgrun.mainloop.consume"
local scales = require "wgrun.mainloop.scales"
local pipeline = require "wgrun.pipeline.pipeline"

local module = {}

-- What k:epilogue returns for this consumer: store, finish, fetch and complete.
local function output_of(g, me)
  local k, p, maps, sizes, buffers = g.k, g.p, g.maps, g.sizes, g.buffers
  local store, finish, fetch, complete = k:epilogue(arguments.extended({
    panel = p.panel, map = maps.D, buffer = buffers.d, offset = me.number * (p.buffers * p.panel.bytes),
    buffers = p.buffers,
    barrier = me.number + 1, rows = p.limits and { to = sizes.D, width = sizes.N } or nil,
    policy = p.evict_first.D and pipeline.evict_first(k) or nil,
  }, plan.operands(k, p, {
    maps = maps, sizes = sizes, stages = buffers, mine = me.number,
    factors = function(names) return scales.factors(p, sizes, names) end,
  })))
  return { store = store, finish = finish, fetch = fetch, complete = complete }
end

--- What the consumer `me` does with the sums of a tile, `acc` (`added`: those that are added to the sums of other
--- slices of K). An object with fetch_early(work, place), where there is something to fetch: sends for what the
--- epilogue reads while the tile is still multiplied, once its first products have been issued;
--- begin(work, place, row, column): returns the first of the consumer's rows and the first column, and fetches where
--- that was not early; store(work, row, column): stores the sums, which are complete;
--- finish(): waits until what was stored has left shared memory.
function module.emit(g, me, acc, added)
  local k, p = g.k, g.p
  local output = output_of(g, me)
  local early = (g.buffers.c or p.vectors > 0) and not p.reduction and not p.block_scaled
    and { row = k:reg "u32", column = k:reg "u32" }
  local epilogue = { finish = output.finish }
  if early then
    function epilogue.fetch_early(work, place)
      local row, column = me.place(work, place)
      k:mov(early.row, row)
      k:mov(early.column, column)
      output.fetch(row, column)
    end
  end

  function epilogue.begin(work, place, row, column)
    if early then return early.row, early.column end
    row, column = me.place(work, place, row, column)
    if not work.slice then output.fetch(row, column) end
    return row, column
  end

  local store = consume.store_tile(g, me, acc, added, output.store, output.complete)

  -- C or the residual comes by the ring, behind the tile's last block of K.
  local function store_with_residual(row, column)
    plan.each_residual(k, p, g.ring, me.cursor, k:address(g.buffers.b), me.lane, me.number, function(block, from)
      output.store(acc[block], consume.row_of(block, row), column, nil, from)
      if block == p.blocks then output.complete(row) end
    end)
  end

  function epilogue.store(work, row, column)
    if p.residual_stages then return store_with_residual(row, column) end
    store(work, row, column)
  end
  return epilogue
end

return module
