-- The tiles of wg.gemm, as each role of its kernel walks over them: whole ones, parts of K, pieces (stream-K), those of groups.

return function(internal)
  local function tiles_of(p, sizes, more)
    local out = { m = p.m, n = p.n, rows = sizes.M, columns = sizes.N, cluster = { p.cluster_m, p.cluster_n },
      group = p.group, splits = p.splits, order = sizes.order, halves = p.halves, last_splits = p.last_splits }
    for key, value in pairs(more) do out[key] = value end
    return out
  end

  --- Calls body(place, piece) for each tile of this CTA, or piece of a tile; place() gives its row and column in D. A piece has
  --- from, to: its range of K;
  --- number, part: the number of the tile among those whose sums are added up, and of this part of it, where there are parts;
  --- cut: where only the run decides whether the tile is in parts, the predicate that it is;
  --- half: where a tile may have only half of its rows, the predicate that it has;
  --- following(): computes the place and the piece that the CTA visits next (stream-K and groups have none).
  --- Pieces of groups have more (internal.each_group_tile). more: further options of k:each_tile.
  function internal.gemm_each_piece(k, p, sizes, more, body)
    if p.groups then return internal.each_group_tile(k, p, sizes, more.first, body) end
    local tiles = tiles_of(p, sizes, more)
    if p.stream then
      tiles.K, tiles.block, tiles.cluster, tiles.splits, tiles.halves, tiles.last_splits = sizes.K, p.round_k, nil, nil, nil, nil
      return k:each_piece(tiles, body)
    end
    local function described(place, part, number, cut)
      local piece = { from = 0, to = sizes.K, part = part, number = number, half = p.halves and cut or nil }
      if part then piece.from, piece.to = k:part_of_k { K = sizes.K, block = p.round_k, part = part, splits = p.parts } end
      if p.last_splits > 1 then
        piece.cut = cut
        piece.from = k:selp_b32(piece.from, 0, cut, { type = "u32" })
        piece.to = k:selp_b32(piece.to, sizes.K, cut, { type = "u32" })
      end
      return place, piece
    end
    k:each_tile(tiles, function(place, part, number, cut, following)
      local _, piece = described(place, part, number, cut)
      function piece.following() return described(following()) end
      body(place, piece)
    end)
  end
end
