-- The parameters of wg.gemm's kernel (builder/parameters.lua), which its launches and what it exports follow.
return function(_, internal)
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
      if p.groups then add { name = "D_data", as = "D", type = p.d .. "*", value = function(l) return l.D end, note = "D again" } end
      p.scheduler.parameters(p, add)
      if p.reduction then p.reduction.parameters(p, add) end
    end)
  end
end
