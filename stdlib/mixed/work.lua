-- What a CTA of wg.gemm{ b_type = } works on: a tile and a part of K, or, with stream_k, pieces of tiles one after the
-- other.

local division = require "wgrun.builder.division"

local module = {}

local divided = division.divided

-- The grid is parts x tiles of A x tiles of weights.
local function of_grid(k, p, blocks)
  local part = k:special "ctaid.x"
  local function edge(number) return divided(k, number * blocks, p.splits) * p.block_k end
  return {
    part = part, row = k:special "ctaid.z" * p.m, column = k:special "ctaid.y" * p.n,
    from = p.splits > 1 and edge(part) or k:mov(0, { type = "u32" }), to = edge(p.splits > 1 and part + 1 or 1),
    each = function(body) body() end,
  }
end

-- Stream-K (Osama et al. 2023) over all tiles: their blocks of K stand in one line, those of tiles with the same
-- weights side by side, and each CTA has an equal piece of the line. `at` is the block that its next piece of a tile
-- begins with, `stop` the end of its line.
local function of_stream(k, p, sizes, blocks)
  local across = divided(k, sizes.M + (p.n - 1), p.n)
  local units = across * divided(k, sizes.N + (p.m - 1), p.m) * blocks
  local ctas = k:min(k:special "nctaid.x", units) -- of those that have work
  local cta = k:min(k:special "ctaid.x", ctas)
  local function edge(number) return k:div(number * units, ctas) end
  local function cta_of(unit) return k:div((unit + 1) * ctas - 1, units) end
  local work = { part = k:mov(0, { type = "u32" }) }
  for _, name in ipairs { "tile", "row", "column", "from", "to" } do work[name] = k:reg "u32" end
  local at, stop = k:reg "u32", edge(k:min(cta + 1, ctas))
  local function settle() -- the registers hold the piece that begins at `at`
    k:mov(work.tile, k:div(at, blocks))
    local tile_row, first = k:div(work.tile, across), at - work.tile * blocks
    k:mov(work.row, tile_row * p.m)
    k:mov(work.column, (work.tile - tile_row * across) * p.n)
    k:mov(work.from, first * p.block_k)
    k:mov(work.to, k:min(blocks, first + (stop - at)) * p.block_k)
  end
  function work.first()
    k:mov(at, edge(cta))
    settle()
  end
  --- Runs body() for each piece, beginning with the one that the registers hold; moved() follows when they hold another
  --- one.
  function work.each(body, moved)
    k:while_(function() return at:lt(stop) end, function()
      body()
      k:add(at, at, divided(k, work.to - work.from, p.block_k))
      settle()
      if moved then moved() end
    end)
  end
  -- A tile's pieces belong to CTAs that follow each other, and have places of the workspace that do. A CTA has two at
  -- most that are not whole tiles; `head` is 1 where the piece is the first of its tile.
  function work.parts()
    local start = work.tile * blocks
    local begins = cta_of(start)
    local part = cta - begins
    local head = k:selp_b32(1, 0, work.from:eq(0), { type = "u32" })
    return {
      count = cta_of(start + (blocks - 1)) - begins + 1, part = part, first = cta + k:min(work.tile, cta + head) - part,
      places = ctas << 1,
    }
  end
  work.first()
  return work
end

--- The work of a CTA of the plan: registers row and column (the tile's first row of weights, and of A), from and to
--- (the first element of K and the one after the last), part (of K, without stream_k); each(body, moved) and, with
--- stream_k, first() and parts().
function module.emit(k, p, sizes)
  local blocks = divided(k, sizes.K + (p.block_k - 1), p.block_k)
  if p.stream then return of_stream(k, p, sizes, blocks) end
  return of_grid(k, p, blocks)
end

return module
