-- Stream-K (Osama et al. 2023) over all tiles: their blocks of K stand in one line, those of tiles with the same rows
-- side by side, and each CTA has an equal share of the line. A share may begin and end within a tile: a CTA has two
-- units at most that are not whole tiles.

local division = require "wgrun.builder.division"
local native = require "wgrun.native"
local tiles = require "wgrun.scheduler.tiles"

local divided = division.divided
local equal_shares = setmetatable({ counters = 2 }, { __index = tiles }) -- for each CTA and consumer

--- Emits what the roles share: the CTA's first work unit (scheduler/tiles.lua), which also has `row` and `column`, and
--- again(), which goes back to it. Its registers hold one work unit after the other.
function equal_shares.first(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local blocks = divided(k, sizes.K + (p.block_k - 1), p.block_k)
  local across = divided(k, sizes.N + (p.n - 1), p.n)
  local all = across * divided(k, sizes.M + (p.m - 1), p.m) * blocks
  local ctas = k:min(k:special "nctaid.x", all) -- of those that have work
  local cta = k:min(k:special "ctaid.x", ctas)
  local function edge(number) return k:div(number * all, ctas) end
  local function cta_of(block) return k:div((block + 1) * ctas - 1, all) end
  local work = { slice = k:mov(0, { type = "u32" }) }
  for _, name in ipairs { "tile", "row", "column", "from", "to" } do work[name] = k:reg "u32" end
  -- the work unit's first block, and the end of the CTA's share
  local at, stop = k:reg "u32", edge(k:min(cta + 1, ctas))
  local function settle() -- the registers hold the work unit that begins at `at`
    k:mov(work.tile, k:div(at, blocks))
    local tile_row, first = k:div(work.tile, across), at - work.tile * blocks
    k:mov(work.row, tile_row * p.m)
    k:mov(work.column, (work.tile - tile_row * across) * p.n)
    k:mov(work.from, first * p.block_k)
    k:mov(work.to, k:min(blocks, first + (stop - at)) * p.block_k)
  end
  function work.again()
    k:mov(at, edge(cta))
    settle()
  end
  function work.each(body, moved)
    k:while_(function() return at:lt(stop) end, function()
      body()
      k:add(at, at, divided(k, work.to - work.from, p.block_k))
      settle()
      if moved then moved() end
    end)
  end
  -- A tile's units belong to CTAs that follow each other, and have places of the workspace that do. `head` is 1 where
  -- the work unit is the first of its tile.
  function work.shared(block)
    local start = work.tile * blocks
    local begins = cta_of(start)
    local slice = cta - begins
    local head = k:selp_b32(1, 0, work.from:eq(0), { type = "u32" })
    local count = cta_of(start + (blocks - 1)) - begins + 1
    local first, places = cta + k:min(work.tile, cta + head) - slice, ctas << 1
    return { count = count, slice = slice, cut = count:gt(1), first = function() return first + block * places end }
  end
  work.again()
  return work
end

--- more.moved(): called where another work unit follows.
function equal_shares.each(g, more, body)
  g.work.each(function() body(function() return g.work.row, g.work.column end, g.work) end, more.moved)
end

function equal_shares.units(_, count, blocks) return count * blocks end

function equal_shares.least_k() end

function equal_shares.workspace(_, counts)
  local all = counts.tiles * counts.blocks
  if (all + 1) * counts.clusters >= 1 << 32 then
    native.fail(("gemm: %d blocks of K in all tiles are too many for stream_k: wg.gemm{stream_k = false}"):format(
      all))
  end
  return { 2 * counts.clusters, 1 }
end

function equal_shares.parameters() end

return equal_shares
