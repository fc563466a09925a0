-- Stream-K (Osama et al. 2023) over all tiles: their blocks of K stand in one line, those of tiles with the same rows
-- side by side, and each CTA has an equal share of the line. A share may begin and end within a tile: a CTA has two
-- pieces at most that are not whole tiles.

local division = require "wgrun.builder.division"
local native = require "wgrun.native"
local tiles = require "wgrun.scheduler.tiles"

local divided = division.divided
local equal_shares = setmetatable({ counters = 2 }, { __index = tiles }) -- for each CTA and consumer

--- Emits what the roles share: the CTA's first piece (scheduler/tiles.lua), which also has `row` and `column`, and
--- again(), which goes back to it. Its registers hold one piece after the other.
function equal_shares.first(g)
  local k, p, sizes = g.k, g.p, g.sizes
  local blocks = divided(k, sizes.K + (p.block_k - 1), p.block_k)
  local across = divided(k, sizes.N + (p.n - 1), p.n)
  local units = across * divided(k, sizes.M + (p.m - 1), p.m) * blocks
  local ctas = k:min(k:special "nctaid.x", units) -- of those that have work
  local cta = k:min(k:special "ctaid.x", ctas)
  local function edge(number) return k:div(number * units, ctas) end
  local function cta_of(unit) return k:div((unit + 1) * ctas - 1, units) end
  local piece = { part = k:mov(0, { type = "u32" }) }
  for _, name in ipairs { "tile", "row", "column", "from", "to" } do piece[name] = k:reg "u32" end
  local at, stop = k:reg "u32", edge(k:min(cta + 1, ctas)) -- the piece's first block, and the end of the CTA's share
  local function settle() -- the registers hold the piece that begins at `at`
    k:mov(piece.tile, k:div(at, blocks))
    local tile_row, first = k:div(piece.tile, across), at - piece.tile * blocks
    k:mov(piece.row, tile_row * p.m)
    k:mov(piece.column, (piece.tile - tile_row * across) * p.n)
    k:mov(piece.from, first * p.block_k)
    k:mov(piece.to, k:min(blocks, first + (stop - at)) * p.block_k)
  end
  function piece.again()
    k:mov(at, edge(cta))
    settle()
  end
  function piece.each(body, moved)
    k:while_(function() return at:lt(stop) end, function()
      body()
      k:add(at, at, divided(k, piece.to - piece.from, p.block_k))
      settle()
      if moved then moved() end
    end)
  end
  -- A tile's pieces belong to CTAs that follow each other, and have places of the workspace that do. `head` is 1 where
  -- the piece is the first of its tile.
  function piece.shared(block)
    local start = piece.tile * blocks
    local begins = cta_of(start)
    local part = cta - begins
    local head = k:selp_b32(1, 0, piece.from:eq(0), { type = "u32" })
    local count = cta_of(start + (blocks - 1)) - begins + 1
    local first, places = cta + k:min(piece.tile, cta + head) - part, ctas << 1
    return { count = count, part = part, cut = count:gt(1), first = function() return first + block * places end }
  end
  piece.again()
  return piece
end

--- more.moved(): called where another piece follows.
function equal_shares.each(g, more, body)
  g.piece.each(function() body(function() return g.piece.row, g.piece.column end, g.piece) end, more.moved)
end

function equal_shares.units(_, count, blocks) return count * blocks end

function equal_shares.workspace(_, work)
  local units = work.tiles * work.blocks
  if (units + 1) * work.clusters >= 1 << 32 then
    native.fail(("gemm: %d blocks of K in all tiles are too many for stream_k: wg.gemm{stream_k = false}"):format(
      units))
  end
  return { 2 * work.clusters, 1 }
end

function equal_shares.parameters() end

return equal_shares
