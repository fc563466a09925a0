-- The order of the tiles of D: persistent CTAs take the tiles in an order that reuses the L2 cache.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local module = {}

local divided = division.divided

--- The CTAs of a cluster along M and along N: of `given`, a number or { m, n }, or 1 and 1.
function module.cluster_of(what, given)
  if given == nil then given = 1 end
  local along = type(given) == "table" and given or { given, 1 }
  for key in pairs(along) do
    if key ~= 1 and key ~= 2 then
      native.fail(
        ("%s: cluster has an element `%s`, must be a number or { along M, along N }"):format(what, tostring(key)))
    end
  end
  local m = arguments.whole(what .. ": cluster", along[1], 1, wg.target.cluster)
  return m, arguments.whole(what .. ": cluster[2]", along[2] == nil and 1 or along[2], 1, wg.target.cluster // m)
end

--- The order of the tiles, and their number, in clusters of tiles, and the CTAs of a cluster along M and along N:
--- place(number) gives the row and column of a tile, counted in tiles or, with a cluster, in tiles of all of its CTAs.
--- opts: m, n, rows, columns, cluster, group, order as in k:each_tile.
function module.tile_order(self, what, opts)
  local function whole(name, default, most)
    return arguments.whole(what .. ": " .. name, opts[name] or default, 1, most)
  end
  local group = whole("group", 8, 0xFFFF)
  local along_m, along_n = module.cluster_of(what, opts.cluster)
  local m, n = whole("m", nil, 0xFFFF), whole("n", nil, 0xFFFF)
  arguments.object(what .. ", rows", opts.rows, "reg")
  arguments.object(what .. ", columns", opts.columns, "reg")
  local rows = divided(self, opts.rows + (m * along_m - 1), m * along_m)
  local columns = divided(self, opts.columns + (n * along_n - 1), n * along_n)
  local function listed(tile)
    local entry = self:ld_global_u32(self:element(opts.order, tile))
    return entry >> 16, entry & 0xFFFF
  end
  local function grouped(tile)
    local in_group = columns * group
    local index = self:div(tile, in_group)
    local top = index * group
    local height = self:min(rows - top, group)
    local inside = tile - index * in_group
    local column = self:div(inside, height)
    return top + (inside - column * height), column
  end
  return opts.order and listed or grouped, rows * columns, along_m, along_n
end

-- Calls visit(row, column) for each place of a square of `side` (a power of two) along Hilbert's curve, from the
-- corner 0, 0 to the corner 0, side - 1.
local function curve(side, visit)
  for step = 0, side * side - 1 do
    local row, column, rest, s = 0, 0, step, 1
    while s < side do
      local down = rest >> 1 & 1
      local right = (rest ~ down) & 1
      if right == 0 then
        if down == 1 then row, column = s - 1 - row, s - 1 - column end
        row, column = column, row
      end
      row, column, rest, s = row + s * right, column + s * down, rest >> 2, s << 1
    end
    visit(row, column)
  end
end

--- The places of a grid of tiles in the order of Hilbert's curve, for the option `order` of k:each_tile. A long grid is
--- divided into a row of squares.
--- @param rows integer  of tiles, 1 to 65535
--- @param columns integer  of tiles, 1 to 65535
--- @return table  a list of row << 16 | column
function wg.hilbert(rows, columns)
  arguments.whole("wg.hilbert: rows", rows, 1, 0xFFFF)
  arguments.whole("wg.hilbert: columns", columns, 1, 0xFFFF)
  local side, out = 1, {}
  while side < math.min(rows, columns) do side = side << 1 end
  for first = 0, math.max(rows, columns) - 1, side do
    curve(side, function(along, across)
      local row, column = across, along + first
      if rows > columns then row, column = column, row end
      if row < rows and column < columns then out[#out + 1] = row << 16 | column end
    end)
  end
  return out
end

--- The tensor with the order of so many tiles along Hilbert's curve, made for the first launch of a size. owner: has
--- `shared`.
function module.order_of(owner, rows, columns)
  local shared, key = owner.shared, rows << 32 | columns
  if shared.order_key ~= key then
    local list = wg.hilbert(rows, columns)
    shared.order_key, shared.order = key, wg.tensor("u32", { #list }, list)
  end
  return shared.order
end

classes.shield(wg, "wg.", { "hilbert" })

return module
