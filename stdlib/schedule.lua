-- Which tile of D comes when: persistent CTAs walk over the tiles in an order that the L2 cache likes.

return function(wg, internal)
  local k = internal.methods.builder
  local options = internal.options

  --- Calls body(place) for each tile of this CTA. The clusters of the grid take turns: cluster c has the tiles
  --- c, c + clusters, ... Tiles follow each other down `group` rows of tiles, then to the next column, so that those
  --- in flight at a time share rows of A and columns of B. place() computes the tile's first row and column (u32
  --- registers) where it is called.
  --- opts: m, n (extents of a tile), rows, columns (of the matrix: registers), cluster (CTAs along M that work on
  ---       neighbouring tiles, default 1), group (default 8), order (pointer to u32, one for each tile: its row of
  ---       tiles << 16 | its column, as wg.hilbert gives them; instead of group), splits (each tile comes that often,
  ---       for the parts 0, 1, ... of K: body also gets the part and the number of the CTA's tile; default 1),
  ---       first (register) and every: of the cluster's tiles only each `every`th, from `first` on.
  function k:each_tile(opts, body)
    options("k:each_tile", opts, { "m", "n", "rows", "columns", "cluster", "group", "order", "splits", "first", "every" })
    local function whole(name, default, most) return internal.whole("k:each_tile: " .. name, opts[name] or default, 1, most) end
    local cluster, group, splits = whole("cluster", 1, 16), whole("group", 8, 0xFFFF), whole("splits", 1, 0xFFFF)
    local m, n = whole("m", nil, 0xFFFF), whole("n", nil, 0xFFFF)
    internal.object("k:each_tile, rows", opts.rows, "reg")
    internal.object("k:each_tile, columns", opts.columns, "reg")
    internal.body("k:each_tile, body", body)
    local rows = self:div(opts.rows + (m * cluster - 1), m * cluster)
    local columns = self:div(opts.columns + (n - 1), n)
    local cta = self:special "ctaid.x"
    local from, clusters, rank = cta, self:special "nctaid.x", 0
    if cluster > 1 then
      from, clusters, rank = self:div(cta, cluster), self:div(clusters, cluster), self:rem(cta, cluster)
    end
    if opts.first then from = from + opts.first * clusters end
    local step = opts.every and clusters * opts.every or clusters

    -- Row and column, in tiles, of a tile's number.
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

    local units = rows * columns
    if splits > 1 then units = units * splits end
    self:loop({ from = from, to = units, step = step }, function(unit)
      local tile, part, number = unit, nil, nil
      if splits > 1 then
        tile = self:div(unit, splits)
        part = unit - tile * splits
        number = cluster == 1 and tile or tile * cluster + rank
      end
      body(function()
        local row, column = (opts.order and listed or grouped)(tile)
        if cluster > 1 then row = row * cluster + rank end
        return row * m, column * n
      end, part, number)
    end)
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

  --- The places of a grid of rows x columns along Hilbert's curve, for k:each_tile: a list of row << 16 | column.
  --- Long grids are squares one after the other; what lies outside of the grid is left out.
  function wg.hilbert(rows, columns)
    internal.whole("wg.hilbert: rows", rows, 1, 0xFFFF)
    internal.whole("wg.hilbert: columns", columns, 1, 0xFFFF)
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
end
