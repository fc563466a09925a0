-- Which tile of D comes when: persistent CTAs walk over the tiles in an order that the L2 cache likes.

return function(internal)
  local k = internal.methods.builder
  local options = internal.options

  --- Calls body(place) for each tile of this CTA. The clusters of the grid take turns: cluster c has the tiles c,
  --- c + clusters, ... Tiles follow each other down `group` rows of tiles, then to the next column, so that those
  --- in flight at a time share rows of A and columns of B. place() computes the tile's first row and column (u32
  --- registers) where it is called.
  --- opts: m, n (extents of a tile), rows, columns (of the matrix: registers), cluster (CTAs along M that work on
  ---       neighbouring tiles, default 1), group (default 8), first (register) and every: of the cluster's
  ---       tiles only each `every`th, from `first` on.
  function k:each_tile(opts, body)
    options("k:each_tile", opts, { "m", "n", "rows", "columns", "cluster", "group", "first", "every" })
    local cluster, group, m, n = opts.cluster or 1, opts.group or 8, opts.m, opts.n
    local rows = self:div(opts.rows + (m * cluster - 1), m * cluster)
    local columns = self:div(opts.columns + (n - 1), n)
    local cta = self:special "ctaid.x"
    local from, clusters, rank = cta, self:special "nctaid.x", 0
    if cluster > 1 then
      from, clusters, rank = self:div(cta, cluster), self:div(clusters, cluster), self:rem(cta, cluster)
    end
    if opts.first then from = from + opts.first * clusters end
    local step = opts.every and clusters * opts.every or clusters
    self:loop({ from = from, to = rows * columns, step = step }, function(tile)
      body(function()
        local in_group = columns * group
        local index = self:div(tile, in_group)
        local top = index * group
        local height = self:min(rows - top, group)
        local inside = tile - index * in_group
        local column = self:div(inside, height)
        local row = top + (inside - column * height)
        if cluster > 1 then row = row * cluster + rank end
        return row * m, column * n
      end)
    end)
  end
end
