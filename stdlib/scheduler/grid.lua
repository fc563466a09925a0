-- The scheduler of a grid that has a CTA for each tile, or a cluster for the slices of K of each: slices x tiles along
-- N x tiles along M. What a CTA has is known before its roles part, so that a producer may copy at once.

local division = require "wgrun.builder.division"
local tiles = require "wgrun.scheduler.tiles"

local divided = division.divided
local grid = setmetatable({}, { __index = tiles })

--- Emits what the roles share: the CTA's work (scheduler/tiles.lua), which also has `row` and `column`.
function grid.first(g)
  local k, p = g.k, g.p
  local blocks = divided(k, g.sizes.K + (p.block_k - 1), p.block_k)
  local slice = k:special "ctaid.x"
  local function edge(number) return divided(k, number * blocks, p.splits) * p.block_k end
  return {
    slice = slice, row = k:special "ctaid.z" * p.m, column = k:special "ctaid.y" * p.n,
    from = p.splits > 1 and edge(slice) or k:mov(0, { type = "u32" }), to = edge(p.splits > 1 and slice + 1 or 1),
  }
end

function grid.each(g, _, body) body(function() return g.work.row, g.work.column end, g.work) end

--- The grid of a launch with so many rows and columns of tiles.
function grid.grid(p, rows, columns) return { p.splits, columns, rows } end

function grid.least_k(p) return tiles.least_of(p, p.splits) end

function grid.workspace(p, counts)
  tiles.check_slices(p, p.splits, counts)
  return nil
end

function grid.parameters() end

return grid
