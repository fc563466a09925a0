-- The order of the tiles of D: persistent CTAs take the tiles in an order that reuses the L2 cache. With stream-K they
-- also share the K blocks of the tiles in the last, partial round.

return function(wg, internal)
  local k = internal.methods.builder
  local options, divided = internal.options, internal.divided

  --- The CTAs of a cluster along M and along N: of `given`, a number or { m, n }, or 1 and 1.
  function internal.cluster_of(what, given)
    if given == nil then given = 1 end
    local along = type(given) == "table" and given or { given, 1 }
    for key in pairs(along) do
      if key ~= 1 and key ~= 2 then internal.fail(("%s: cluster has an element `%s`, must be a number or { along M, along N }"):format(what, tostring(key))) end
    end
    local m = internal.whole(what .. ": cluster", along[1], 1, wg.target.cluster)
    return m, internal.whole(what .. ": cluster[2]", along[2] == nil and 1 or along[2], 1, wg.target.cluster // m)
  end

  -- The order of the tiles, and their number, in clusters of tiles: place(number) gives the row and column of a tile,
  -- counted in tiles or, with a cluster, in tiles of all of its CTAs. opts: m, n, rows, columns, cluster, group, order as in k:each_tile.
  local function order_of(self, what, opts)
    local function whole(name, default, most) return internal.whole(what .. ": " .. name, opts[name] or default, 1, most) end
    local group = whole("group", 8, 0xFFFF)
    local along_m, along_n = internal.cluster_of(what, opts.cluster)
    local m, n = whole("m", nil, 0xFFFF), whole("n", nil, 0xFFFF)
    internal.object(what .. ", rows", opts.rows, "reg")
    internal.object(what .. ", columns", opts.columns, "reg")
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

  --- place(number) of the tiles of k:each_tile, for the same options.
  function internal.tile_order(self, opts) return (order_of(self, "k:each_tile", opts)) end

  --- Persistent CTAs: a loop over the tiles of a matrix that belong to this CTA. The clusters of the grid take turns:
  --- cluster c has the tiles c, c + clusters, ... The order goes down `group` rows of tiles, then on to the next column,
  --- so that the tiles in flight share rows of A and columns of B in the L2 cache.
  --- @param options table
  --- @option m integer  the rows of a tile
  --- @option n integer  the columns of a tile
  --- @option rows reg  u32: of the matrix
  --- @option columns reg  u32: of the matrix
  --- @option cluster integer|table = 1  CTAs of a cluster, which work on neighbouring tiles: along M, or { along M, along N }, those along M first
  --- @option group integer = 8  rows of tiles that the order covers before it goes on to the next column
  --- @option order reg?  a pointer parameter to u32, instead of `group`: for each tile its row << 16 | its column, counted in tiles, as wg.hilbert gives them
  --- @option splits integer = 1  the number of parts of K: each tile is visited once for each part
  --- @option first reg?  u32: the first of the cluster's tiles that is taken; used with `every`
  --- @option every integer?  takes only every n-th of the cluster's tiles
  --- @option halves boolean = false  where at most half of the clusters would have a tile in the last round, each of its tiles is two: the upper and the lower half of its rows
  --- @option last_splits integer = 1  where at most one of so many clusters would have a tile in the last round, each of its tiles is visited once for each of so many parts of K; without `splits` and `halves`
  --- @param body function(place: function, part: reg, number: reg, cut: reg, following: function)  emits the work on a tile. place() computes the tile's first
  ---   row and column (u32 registers) where it is called; with splits, `part` is the part of K and `number` that of the tile; with last_splits
  ---   they count where `cut`, a predicate, holds, and `number` is that among the tiles that are cut; with halves, `cut` holds where the tile has half of the rows. following() computes
  ---   place, part, number and cut of what the CTA visits next, where it is called; behind the last tile they are those of some tile
  --- @see k:each_piece
  function k:each_tile(opts, body, ...)
    internal.surplus("each_tile", 2, ...)
    internal.object("k:each_tile, k", self, "builder")
    options("k:each_tile", opts)
    local splits = internal.whole("k:each_tile: splits", opts.splits or 1, 1, 0xFFFF)
    local last_splits = internal.whole("k:each_tile: last_splits", opts.last_splits or 1, 1, 0xFFFF)
    if last_splits > 1 and (splits > 1 or opts.halves) then internal.fail "k:each_tile: `last_splits` goes without `splits` and `halves`" end
    local place, units, along_m, along_n = order_of(self, "k:each_tile", opts)
    local cluster = along_m * along_n
    internal.body("k:each_tile, body", body)
    local cta = self:special "ctaid.x"
    local from, clusters, rank = cta, self:special "nctaid.x", 0
    if cluster > 1 then
      from, clusters, rank = divided(self, cta, cluster), divided(self, clusters, cluster), internal.remainder(self, cta, cluster)
    end
    if opts.first then from = from + opts.first * clusters end
    local step = opts.every and clusters * opts.every or clusters

    local pieces, whole = opts.halves and 2 or last_splits, nil -- whole: the tiles before those that are cut
    if pieces > 1 then
      local rest = self:rem(units, clusters)
      self:mov(rest, 0, { guard = (rest * pieces):gt(clusters) })
      whole, units = units - rest, units + rest * (pieces - 1)
    end
    if splits > 1 then units = units * splits end
    -- What body() gets of a unit.
    local function described(unit)
      local tile, part, number, cut, lower = unit, nil, nil, nil, nil
      if whole then
        cut = unit:ge(whole)
        local index = unit - whole
        number = divided(self, index, pieces)
        part = index - number * pieces
        tile = self:selp_b32(whole + number, unit, cut, { type = "u32" })
        if opts.halves then
          lower = self:selp_b32(part * (opts.m // 2), 0, cut, { type = "u32" })
          part, number = nil, nil
        end
      end
      if splits > 1 then
        tile = divided(self, unit, splits)
        part = unit - tile * splits
        number = cluster == 1 and tile or tile * cluster + rank
      end
      return function()
        local row, column = place(tile)
        if along_m > 1 then row = row * along_m + (along_n > 1 and internal.remainder(self, rank, along_m) or rank) end
        if along_n > 1 then column = column * along_n + divided(self, rank, along_m) end
        row = row * opts.m
        return lower and row + lower or row, column * opts.n
      end, part, number, cut
    end
    self:loop({ from = from, to = units, step = step }, function(unit)
      local at, part, number, cut = described(unit)
      body(at, part, number, cut, function() return described(self:min(unit + step, units - 1)) end)
    end)
  end

  --- Stream-K: a loop over this CTA's tiles and pieces of tiles. Where the tiles are not a whole number of rounds of the
  --- grid, those of the last round and of one more are cut along K, so that each CTA gets the same number of blocks; the
  --- other tiles follow as in k:each_tile. No tile is cut more than once.
  --- @param options table
  --- @option m integer  the rows of a tile
  --- @option n integer  the columns of a tile
  --- @option rows reg  u32: of the matrix
  --- @option columns reg  u32: of the matrix
  --- @option group integer = 8  as in k:each_tile
  --- @option order reg?  as in k:each_tile
  --- @option K reg  u32: the K extent
  --- @option block integer  elements of K in a block; tiles times blocks must be less than 2^31
  --- @param body function(place: function, piece: table)  emits the work on a piece: place() as in k:each_tile; piece.from and
  ---   piece.to (the first element of K and the one after the last), piece.cut (a predicate: the tile has another piece),
  ---   piece.part (0 for the first blocks, 1 for the last) and piece.number (of the cut, from 1) are registers
  --- @see k:each_tile
  --- @see k:sum_parts
  function k:each_piece(opts, body, ...)
    internal.surplus("each_piece", 2, ...)
    internal.object("k:each_piece, k", self, "builder")
    options("k:each_piece", opts)
    local place, tiles = order_of(self, "k:each_piece", opts)
    local block = internal.whole("k:each_piece: block", opts.block, 1, 0xFFFF)
    internal.object("k:each_piece, K", opts.K, "reg")
    internal.body("k:each_piece, body", body)
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
