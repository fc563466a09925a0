-- The parameters of wg.gemm's kernel (builder/parameters.lua), which its launches and what it exports follow.
return function(_, internal)
  local fail = internal.fail

  -- Where the sums of parts of K go.
  local function add_partials(p, add)
    if not p.partials then return end
    local sums = p.m * p.width
    local elements, counters
    if p.stream then
      elements = ("%d elements for each CTA of the grid"):format(2 * sums)
      counters = ("%d for each CTA of the grid, zeros before the first launch"):format(p.consumers)
    elseif p.last_splits > 1 then
      elements = ("%d elements for each %d CTAs of the grid"):format(p.parts * sums, p.parts)
      counters = ("%d for each %d CTAs of the grid, zeros before the first launch"):format(p.consumers, p.parts)
    else
      local tiles = ("for each of the ceil(M / %d) * %d * ceil(N / %d) tiles"):format(p.m * p.cluster_m, p.cluster, p.n * p.cluster_n)
      elements, counters = ("%d elements %s"):format(p.splits * sums, tiles), ("%d %s, zeros before the first launch"):format(p.consumers, tiles)
    end
    add { name = "partials", type = p.accumulator .. "*", note = elements, value = function(l) return (internal.workspace_of(l.gemm, l.workspace)) end }
    add { name = "counters", type = "u32*", note = counters, value = function(l) return select(2, internal.workspace_of(l.gemm, l.workspace)) end }
  end

  local shapes = { -- of scales for blocks
    a_scales = "ceil(K / 128) x M, a multiple of 4,", b_scales = "ceil(N / 128) x ceil(K / 128)",
  }

  local function add_scales(p, add)
    local function value_of(name)
      return function(l)
        local shape = internal.shape_of(l.given[name]) or fail(("gemm: `%s` is missing: a tensor of f32"):format(name))
        local want = internal.scale_shapes(p, l.rows, l.columns, l.K, l.groups)[name]
        local got, wanted = table.concat(shape, " x "), table.concat(want, " x ")
        local rule = #want == 2 and shapes[name] .. " = " or ""
        if got ~= wanted then fail(("gemm: %s must be %s%s f32, not %s"):format(name, rule, wanted, got)) end
        return l.given[name]
      end
    end
    local of_groups = p.groups and " for each group" or ""
    if p.scaled then
      add { name = "a_scales", map = p.scaled.box, value = value_of "a_scales", note = "ceil(K / 128) x M, M rounded up to a multiple of 4" }
    elseif p.scales.a_scales then
      add { name = "a_scales", type = "const f32*", value = value_of "a_scales" }
    end
    if p.scales.b_scales then
      add { name = "b_scales", type = "const f32*", value = value_of "b_scales", note = p.scaled and "ceil(N / 128) x ceil(K / 128)" .. of_groups or nil }
    end
  end

  -- The operands' tensor maps and extents.
  local function add_operands(p, add)
    local swapped = p.swapped
    add {
      name = "A", map = { tile = p.a_piece, constant = true }, value = function(l) return l.A end,
      note = p.sparse and "the values of A, M x K / 2" or swapped and "B of the product, for the kernel computes the transpose of D" or nil,
    }
    add {
      name = "B", map = { tile = p.b_piece, constant = true }, value = function(l) return l.B end,
      note = p.groups and "those of all groups, one below the other" or swapped and "A of the product" or nil,
    }
    add { name = "D", map = p.panel.box, value = function(l) return l.D end }
    local notes = { M = swapped and "columns of D" or nil, N = p.groups and "columns of D" or swapped and "rows of D" or nil }
    for _, name in ipairs { "M", "N", "K" } do
      add { name = name, type = "u32", value = function(l) return l[name] end, note = notes[name] }
    end
    for _, name in ipairs { "A", "B" } do
      local rows, width = p.edges[name], 128 // internal.element_bytes[p.dtype]
      if rows then
        add {
          name = name .. "_edge", map = { dtype = p.dtype, box = { width, rows }, swizzle = "128B", constant = true }, value = function(l) return l[name] end,
          note = ("%s again, for a last tile of up to %d rows"):format(name, rows),
        }
      end
    end
  end

  --- The kernel's parameters. A launch has: A, B, D, M, N, K as the kernel takes them; rows and columns of D; `given`, its options; groups and
  --- group_rows (internal.group_arguments); tile_rows and tile_columns; workspace: { tiles, parts }; gemm.
  function internal.gemm_parameters(p)
    return internal.parameters(function(add)
      add_operands(p, add)
      internal.add_epilogue_parameters(p, add)
      if p.sparse then
        add {
          name = "metadata", type = "const u32*", note = 'of wg.sparse.compress(A, "gemm"), as the values',
          value = function(l)
            internal.same_shape("gemm: metadata", l.given.metadata, internal.metadata_shape(p.dtype, l.M, l.K))
            return l.given.metadata
          end,
        }
      end
      add_scales(p, add)
      if p.groups then
        add { name = "D_data", as = "D", type = p.d .. "*", value = function(l) return l.D end, note = "D again" }
        internal.add_group_parameters(p, add)
      end
      if p.raster == "hilbert" then
        add {
          name = "order", type = "const u32*", value = function(l) return internal.order_of(l.gemm, l.tile_rows, l.tile_columns) end,
          note = ("for each tile of %d x %d its row << 16 | its column, in the order of the work (wg.hilbert)"):format(p.m * p.cluster_m, p.n * p.cluster_n),
        }
      end
      add_partials(p, add)
    end)
  end
end
