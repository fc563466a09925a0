-- The scheduler of a grid that has a CTA for each tile, or a cluster for the parts of K of each: parts x tiles along N
-- x tiles along M. What a CTA has is known before its roles part, so that a producer may copy at once.

local division = require "wgrun.builder.division"
local tiles = require "wgrun.scheduler.tiles"

local divided = division.divided
local grid = setmetatable({}, { __index = tiles })

--- Emits what the roles share: the CTA's piece (scheduler/tiles.lua), which also has `row` and `column`.
function grid.first(g)
  local k, p = g.k, g.p
  local blocks = divided(k, g.sizes.K + (p.block_k - 1), p.block_k)
  local part = k:special "ctaid.x"
  local function edge(number) return divided(k, number * blocks, p.splits) * p.block_k end
  return {
    part = part, row = k:special "ctaid.z" * p.m, column = k:special "ctaid.y" * p.n,
    from = p.splits > 1 and edge(part) or k:mov(0, { type = "u32" }), to = edge(p.splits > 1 and part + 1 or 1),
  }
end

function grid.each(g, _, body) body(function() return g.piece.row, g.piece.column end, g.piece) end

--- The grid of a launch with so many rows and columns of tiles.
function grid.grid(p, rows, columns) return { p.splits, columns, rows } end

function grid.workspace(p, work)
  tiles.check_parts(p, p.splits, work)
  return nil
end

function grid.parameters() end

return grid
