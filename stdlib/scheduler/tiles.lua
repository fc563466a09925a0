-- The scheduler of whole tiles: persistent CTAs take the tiles of D in turn, or slices of K of them. It also cuts the
-- tiles of a last round in which few CTAs would have one.
--
-- A scheduler is how the roles of a product walk over its tiles. Producers and consumers walk each by themselves, in
-- the same order. What they visit are work units: a tile, a slice of its K, or a tail tile. A scheduler is a table of
-- these functions, where g is the product (mainloop/product.lua) and p its plan:
--
--   each(g, more, body)   calls body(place, work) for each work unit of this CTA; place() gives its row and column in
--                         D. more: first, every: the CTA's tiles to take, as in k:each_tile. A work unit has
--                           from, to       its range of K
--                           number, slice  where there are slices: the number of the tile among those whose sums are
--                                          added up, and of the slice
--                           cut            where only the run decides whether the tile has slices, the predicate that
--                                          it has
--                           shared(block)  instead of these, where only the run decides how many slices a tile has:
--                                          their `count`, `slice`, `cut` and first(), the place in the workspace of the
--                                          slices of a block of 64 rows
--                           a_first        where rows of A lie elsewhere than those of D, what is added to the row
--                           limit          where not all rows of a tile need be stored, the end of those that are
--                           tail_m         where a tile may have only half of its rows, the predicate that it has
--                           following()    computes the place and the work unit that the CTA visits next
--                         and, with groups, more (scheduler/groups.lua)
--   units(p, tiles, blocks)  the most work units that so many tiles of so many blocks of K make; a cluster takes one at
--                         a time
--   grid(p, rows, columns)  the grid of a launch with so many tiles, where it is not as many clusters as find units
--   first(g)              emits what the roles share, where they do: the CTA's first work unit, g.work
--   workspace(p, counts)  { tiles, slices }: the sums and counters that a launch needs in global memory, or nil; raises
--                         for what is too large or too small. counts: tiles, blocks (of K), clusters (of the launch),
--                         most (on the chip)
--   least_k(p)            the least K of a launch; nil: any
--   parameters(p, add)    the kernel's parameters for it

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local classes = require "wgrun.classes"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"
local order = require "wgrun.scheduler.order"

local k = native.methods.builder
local fail, options, divided = native.fail, arguments.options, division.divided
local tiles = {}

local function of_order(what, opts)
  opts = options(what, opts or {})
  return { raster = opts.raster, group = opts.group, tail_m = opts.halves }
end
tiles.plan_of_order = of_order

--- The scheduler of whole tiles, for wg.mainloop: persistent CTAs take the tiles of D in turn, or their slices of K.
--- @param options table?
--- @option group integer[1,65535] = 8  rows of tiles that the order covers before it goes on to the next column
--- @option raster "grouped"|"hilbert" = "grouped"  the order of the tiles: "grouped", or "hilbert" along Hilbert's
---   curve
--- @option halves boolean = false  as of wg.gemm: tail tiles: where at most half of the clusters would have a tile in
---   the last round, its tiles are cut into an upper and a lower half. The epilogue gets fewer blocks of 64 rows of
---   these
--- @return table  for the option `scheduler` of wg.mainloop
--- @see wg.mainloop.dense
function wg.scheduler.tiles(opts) return classes.strategy("scheduler", tiles, of_order("wg.scheduler.tiles", opts)) end

--- Persistent CTAs: a loop over the tiles of a matrix that belong to this CTA. The clusters of the grid take turns:
--- cluster c has the tiles c, c + clusters, ... The order goes down `group` rows of tiles, then on to the next column,
--- so that the tiles in flight share rows of A and columns of B in the L2 cache.
--- @param options table
--- @option m integer[1,65535]  the rows of a tile
--- @option n integer[1,65535]  the columns of a tile
--- @option rows reg  u32: of the matrix
--- @option columns reg  u32: of the matrix
--- @option cluster integer|table = 1  CTAs of a cluster, which work on neighbouring tiles: along M, or { along M, along
---   N }, those along M first
--- @option group integer[1,65535] = 8  rows of tiles that the order covers before it goes on to the next column
--- @option order reg?  a pointer parameter to u32, instead of `group`: for each tile its row << 16 | its column,
---   counted in tiles, as wg.hilbert gives them
--- @option splits integer[1,65535] = 1  the number of slices of K: each tile is visited once for each slice
--- @option passes integer[1,65535] = 1  how often the tiles are visited: all of them once, then all of them again;
---   without `splits`, `last_splits` and `halves`
--- @option first reg?  u32: the first of the cluster's tiles that is taken; used with `every`
--- @option every integer?  takes only every n-th of the cluster's tiles
--- @option halves boolean = false  where at most half of the clusters would have a tile in the last round, each of its
---   tiles is two: the upper and the lower half of its rows
--- @option last_splits integer[1,65535] = 1  where at most one of so many clusters would have a tile in the last round,
---   each of its tiles is visited once for each of so many slices of K; without `splits` and `halves`
--- @param body function(place: function, slice: reg, number: reg, cut: reg, following: function)  emits the work on a
---   tile. place() computes the tile's first row and column (u32 registers) where it is called; with splits,
---   `slice` is the slice of K and `number` that of the tile; with passes, `slice` is the pass; with last_splits they
---   count where `cut`, a predicate, holds, and `number` is that among the tiles that are cut; with halves, `cut` holds
---   where the tile has half of the rows. following() computes place, slice, number and cut of what the CTA visits
---   next, where it is called; behind the last tile they are those of some tile
--- @see k:each_piece
function k:each_tile(opts, body, ...)
  arguments.surplus("each_tile", 2, ...)
  arguments.object("k:each_tile, k", self, "builder")
  options("k:each_tile", opts)
  local splits, last_splits, passes = opts.splits or 1, opts.last_splits or 1, opts.passes or 1
  if last_splits > 1 and (splits > 1 or opts.halves) then
    fail "k:each_tile: `last_splits` excludes `splits` and `halves`"
  end
  if passes > 1 and (splits > 1 or last_splits > 1 or opts.halves) then
    fail "k:each_tile: `passes` excludes `splits`, `last_splits` and `halves`"
  end
  local place, units, along_m, along_n = order.tile_order(self, "k:each_tile", opts)
  local of_pass = units
  local cluster = along_m * along_n
  arguments.body("k:each_tile, body", body)
  local cta = self:special "ctaid.x"
  local from, clusters, rank = cta, self:special "nctaid.x", 0
  if cluster > 1 then
    from, clusters, rank = divided(self, cta, cluster), divided(self, clusters, cluster),
      division.remainder(self, cta, cluster)
  end
  if opts.first then from = from + opts.first * clusters end
  local step = opts.every and clusters * opts.every or clusters

  local shares, whole = opts.halves and 2 or last_splits, nil -- of a cut tile; the tiles before those that are cut
  if shares > 1 then
    local rest = self:rem(units, clusters)
    self:mov(rest, 0, { guard = (rest * shares):gt(clusters) })
    whole, units = units - rest, units + rest * (shares - 1)
  end
  if splits * passes > 1 then units = units * (splits * passes) end
  -- What body() gets of a work unit.
  local function described(unit)
    local tile, slice, number, cut, lower = unit, nil, nil, nil, nil
    if whole then
      cut = unit:ge(whole)
      local index = unit - whole
      number = divided(self, index, shares)
      slice = index - number * shares
      tile = self:selp_b32(whole + number, unit, cut, { type = "u32" })
      if opts.halves then
        lower = self:selp_b32(slice * (opts.m // 2), 0, cut, { type = "u32" })
        slice, number = nil, nil
      end
    end
    if splits > 1 then
      tile = divided(self, unit, splits)
      slice = unit - tile * splits
    elseif passes > 1 then
      slice = self:div(unit, of_pass)
      tile = unit - slice * of_pass
    end
    if splits * passes > 1 then number = cluster == 1 and tile or tile * cluster + rank end
    return function()
      local row, column = place(tile)
      if along_m > 1 then row = row * along_m + (along_n > 1 and division.remainder(self, rank, along_m) or rank) end
      if along_n > 1 then column = column * along_n + divided(self, rank, along_m) end
      row = row * opts.m
      return lower and row + lower or row, column * opts.n
    end, slice, number, cut
  end
  self:loop({ from = from, to = units, step = step }, function(unit)
    local at, slice, number, cut = described(unit)
    body(at, slice, number, cut, function() return described(self:min(unit + step, units - 1)) end)
  end)
end

--- The options of k:each_tile for the tiles of a product.
function tiles.tiles_of(g, more)
  local p, sizes = g.p, g.sizes
  return arguments.extended(
    { m = p.m, n = p.n, rows = sizes.M, columns = sizes.N, group = p.group, order = sizes.order }, more)
end

function tiles.each(g, more, body)
  local k, p, sizes = g.k, g.p, g.sizes
  local function described(place, slice, number, cut)
    local work = { from = 0, to = sizes.K, slice = slice, number = number, tail_m = p.tail_m and cut or nil }
    if slice then
      work.from, work.to = k:part_of_k { K = sizes.K, block = p.round_k, part = slice, splits = p.slices }
    end
    if p.last_splits > 1 then
      work.cut = cut
      work.from = k:selp_b32(work.from, 0, cut, { type = "u32" })
      work.to = k:selp_b32(work.to, sizes.K, cut, { type = "u32" })
    end
    return place, work
  end
  local walk = tiles.tiles_of(g, more)
  walk.cluster, walk.splits, walk.halves, walk.last_splits = { p.cluster_m, p.cluster_n }, p.splits, p.tail_m,
    p.last_splits
  k:each_tile(walk, function(place, slice, number, cut, following)
    local _, work = described(place, slice, number, cut)
    function work.following() return described(following()) end
    body(place, work)
  end)
end

function tiles.units(p, count) return count * (p.dsmem and 1 or p.splits) * p.last_splits end

--- The least K of so many slices: each of them has a block.
function tiles.least_of(p, slices) return slices > 1 and (slices - 1) * p.round_k + 1 or nil end

function tiles.least_k(p) return tiles.least_of(p, p.slices) end

--- Raises where K has too few blocks for so many slices.
function tiles.check_slices(p, slices, counts)
  if counts.K < (tiles.least_of(p, slices) or 0) then
    local remedy = p.what == "wg.gemm" and ("wg.gemm{ %s = %d }"):format(
        p.last_splits > 1 and "last_splits" or "splits", counts.blocks)
      or p.what .. " with fewer `splits` of its reduction"
    fail(("gemm: K is %d, %d block%s of %d: too few for %d splits: %s"):format(
      counts.K, counts.blocks, counts.blocks == 1 and "" or "s", p.round_k, slices, remedy))
  end
end

function tiles.workspace(p, counts)
  if p.slices == 1 then return nil end
  tiles.check_slices(p, p.slices, counts)
  -- At most one of so many CTAs of the chip has a tile that is cut in the last round.
  return { p.last_splits > 1 and roofline.ceil_div(counts.most, p.slices) or counts.tiles * p.cluster, p.slices }
end

function tiles.parameters(p, add)
  if p.raster ~= "hilbert" then return end
  add {
    name = "order", type = "const u32*", value = function(l) return l.order() end,
    note = ("for each tile of %d x %d its row << 16 | its column, in the order of the work (wg.hilbert)"):format(
      p.m * p.cluster_m, p.n * p.cluster_n),
  }
end

classes.shield(wg.scheduler, "wg.scheduler.", { "tiles" })

return tiles
