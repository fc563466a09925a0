-- The scheduler of stream-K: CTAs take whole tiles, and share the K blocks of those that would leave a last round
-- partly empty.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local order = require "wgrun.scheduler.order"
local scheduler_tiles = require "wgrun.scheduler.tiles"

local k = native.methods.builder
local options, divided = arguments.options, division.divided
local stream_k = setmetatable({}, { __index = scheduler_tiles })

--- The scheduler of stream-K, for wg.mainloop: CTAs take whole tiles, and share the blocks of K of those that would
--- leave a last round partly empty. It takes the reduction wg.reduction.memory.
--- @param options table?
--- @options wg.scheduler.tiles without halves
--- @return table  for the option `scheduler` of wg.mainloop
--- @see wg.reduction.memory
function wg.scheduler.stream_k(opts)
  return classes.strategy("scheduler", stream_k, scheduler_tiles.plan_of_order("wg.scheduler.stream_k", opts))
end

--- Stream-K: a loop over this CTA's work units, which are tiles and slices of tiles along K. Where the tiles are not a
--- whole number of rounds of the grid, those of the last round and of one more are cut along K, so that each CTA gets
--- the same number of blocks; the other tiles follow as in k:each_tile. No tile is cut more than once.
--- @param options table
--- @option m integer[1,65535]  the rows of a tile
--- @option n integer[1,65535]  the columns of a tile
--- @option rows reg  u32: of the matrix
--- @option columns reg  u32: of the matrix
--- @option group integer[1,65535] = 8  as in k:each_tile
--- @option order reg?  as in k:each_tile
--- @option K reg  u32: the K extent
--- @option block integer[1,65535]  elements of K in a block; tiles times blocks must be less than 2^31
--- @param body function(place: function, piece: table)  emits the work on a unit: place() as in k:each_tile;
---   piece.from and piece.to (the first element of K and the one after the last), piece.cut (a predicate: the tile has
---   another unit), piece.part (0 for the first blocks, 1 for the last) and piece.number (of the cut, from 1) are
---   registers
--- @see k:each_tile
--- @see k:sum_parts
function k:each_piece(opts, body, ...)
  arguments.surplus("each_piece", 2, ...)
  arguments.object("k:each_piece, k", self, "builder")
  options("k:each_piece", opts)
  local place, tiles = order.tile_order(self, "k:each_piece", opts)
  local block = opts.block
  arguments.object("k:each_piece, K", opts.K, "reg")
  arguments.body("k:each_piece, body", body)
  local cta, ctas = self:special "ctaid.x", self:special "nctaid.x"
  local blocks = divided(self, opts.K + (block - 1), block)
  local rounds = self:div(tiles, ctas)
  local rest = tiles - rounds * ctas
  local shared = rest + ctas -- the number of tiles that are cut
  self:mov(shared, 0, { guard = rest:eq(0) | rounds:eq(0) })

  -- The CTA's place in the sequence of all blocks of all tiles, and the end of its share of the cut tiles: `never`
  -- once it has passed that end.
  local never = 0xFFFFFFFF
  local share = self:div(shared * blocks, ctas)
  local over = shared * blocks - share * ctas -- the number of CTAs that have one block more
  local at, stop = cta * share + self:min(cta, over), (cta + 1) * share + self:min(cta + 1, over)
  local first_whole, round = (shared + cta) * blocks, (ctas - 1) * blocks
  local function leave(guard)
    self:mov(at, first_whole, { guard = guard })
    self:mov(stop, never, { guard = guard })
  end
  leave(shared:eq(0))
  local all = tiles * blocks
  self:while_(function() return at:lt(all) end, function()
    local tile = self:div(at, blocks)
    local from = at - tile * blocks
    local to = self:min(from + (stop - at), blocks)
    body(function()
      local row, column = place(tile)
      return row * opts.m, column * opts.n
    end, {
      from = from * block, to = to * block, cut = (to - from):ne(blocks),
      part = self:min(from, 1), number = cta + 1 - self:min(from, 1),
    })
    self:add(at, at, to - from)
    self:add(at, at, round, { guard = stop:eq(never) })
    leave(at:eq(stop))
  end)
end

function stream_k.each(g, more, body)
  local opts = scheduler_tiles.tiles_of(g, more)
  opts.K, opts.block = g.sizes.K, g.p.round_k
  g.k:each_piece(opts, function(place, piece)
    body(place, { from = piece.from, to = piece.to, cut = piece.cut, slice = piece.part, number = piece.number })
  end)
end

function stream_k.units(_, count) return count end

function stream_k.least_k() end

function stream_k.workspace(_, counts)
  if counts.tiles * counts.blocks >= 1 << 31 then
    native.fail(("gemm: %d tiles of %d blocks of K are too many for stream_k: wg.gemm{stream_k = false}"):format(
      counts.tiles, counts.blocks))
  end
  return { counts.clusters, 2 }
end

classes.shield(wg.scheduler, "wg.scheduler.", { "stream_k" })

return stream_k
