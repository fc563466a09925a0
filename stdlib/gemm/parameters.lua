-- The parameters of wg.gemm's kernel (builder/parameters.lua), which its launches and what it exports follow.
return function(_, internal)
  local fail = internal.fail

  local shapes = { -- of scales for blocks
    a_scales = "ceil(K / 128) x M, a multiple of 4,", b_scales = "ceil(N / 128) x ceil(K / 128)",
  }

  --- The scales called `name` of a launch; raises where they have another shape than the plan's.
  function internal.scales_of_launch(p, name, l)
    local shape = internal.shape_of(l.given[name]) or fail(("gemm: `%s` is missing: a tensor of f32"):format(name))
    local want = internal.scale_shapes(p, l.rows, l.columns, l.K, l.groups)[name]
    local got, wanted = table.concat(shape, " x "), table.concat(want, " x ")
    local rule = #want == 2 and shapes[name] .. " = " or ""
    if got ~= wanted then fail(("gemm: %s must be %s%s f32, not %s"):format(name, rule, wanted, got)) end
    return l.given[name]
  end

  -- Scales that factor out of the sums over K.
  local function add_scales(p, add)
    for _, name in ipairs { "a_scales", "b_scales" } do
      if p.scales[name] and not p.scaled then add { name = name, type = "const f32*", value = function(l) return l.scales(name) end } end
    end
  end

  -- The operands' tensor maps and extents.
  local function add_operands(p, add)
    local swapped = p.swapped
    internal.operand_parameters(p, add)
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
  --- group_rows (internal.group_arguments); and functions: order(), the order of its tiles; partials() and counters(), its workspace;
  --- scales(name), checked.
  function internal.gemm_parameters(p)
    return internal.parameters(function(add)
      add_operands(p, add)
      internal.add_epilogue_parameters(p, add)
      p.kind.parameters(p, add)
      add_scales(p, add)
      p.scheduler.parameters(p, add)
      if p.reduction then p.reduction.parameters(p, add) end
    end)
  end
end
