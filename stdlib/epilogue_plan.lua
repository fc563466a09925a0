-- The epilogue of wg.gemm: what its option `epilogue` says, the kernel's parameters for it, and their values at a launch.

return function(wg, internal)
  local fail, options, ceil_div = internal.fail, internal.options, internal.ceil_div
  local what = "wg.gemm, epilogue"

  -- Names of gated activations, and the gates they stand for.
  local gated = { swiglu = "silu", geglu = "gelu", reglu = "relu", glu = "sigmoid" }

  local function flag(given, name)
    if given[name] ~= nil and type(given[name]) ~= "boolean" then
      fail(("%s: %s must be true or false, not %s"):format(what, name, tostring(given[name])))
    end
    return given[name] or nil
  end

  local function one_of(given, name, legal, more)
    local value = given[name]
    for _, candidate in ipairs(legal) do if value == candidate then return value end end
    if value == nil or value == false or more and type(value) == "function" then return value or nil end
    fail(("%s: unknown %s `%s` (legal: %s%s)"):format(what, name, tostring(value), table.concat(legal, ", "), more or ""))
  end

  local function activation(given, name)
    local of = given[name]
    if of == nil or of == false then return nil end
    if name == "activation" and gated[of] then
      fail(("%s: `%s` takes a second product: gate = \"%s\""):format(what, of, gated[of]))
    end
    internal.activation(("%s: unknown %s"):format(what, name), of, name == "gate" and "two f32 registers")
    return of
  end

  -- Options that contradict each other.
  local apart = {
    { "gate", { "alpha", "beta", "activation" } },
    { "residual", { "beta" } },
    { "quantize", { "beta", "residual" } },
  }

  --- The option `epilogue` of wg.gemm, checked. Its field `cycles` are those of an SM for an element, a model of what the
  --- operations cost besides storing D.
  function internal.epilogue_options(given)
    options(what, given)
    for _, rule in ipairs(apart) do
      for _, other in ipairs(given[rule[1]] and rule[2] or {}) do
        if given[other] then fail(("%s: `%s` goes without `%s`"):format(what, rule[1], other)) end
      end
    end
    local e = {
      alpha = flag(given, "alpha"), beta = flag(given, "beta"), residual = flag(given, "residual"),
      bias = one_of(given, "bias", { "row", "column" }), quantize = one_of(given, "quantize", { "1x128" }),
      row_sums = one_of(given, "row_sums", { "squares", "rms" }, ", or a function of k and an f32 register"),
      activation = activation(given, "activation"), gate = activation(given, "gate"),
    }
    if given.epsilon ~= nil then
      if e.row_sums ~= "rms" then fail(what .. ': `epsilon` goes with row_sums = "rms"') end
      if type(given.epsilon) ~= "number" then fail(("%s: epsilon must be a number, not %s"):format(what, tostring(given.epsilon))) end
      e.epsilon = internal.positive(what .. ": epsilon", given.epsilon)
    end
    e.plain = next(e) == nil
    local f = e.gate or e.activation
    e.cycles = (f == "gelu" and 0.05 or f and f ~= "relu" and 0.1 or 0) + (e.row_sums and 0.02 or 0) + (e.quantize and 0.03 or 0)
    return e
  end

  --- Raises where the epilogue of a plan contradicts its other options.
  function internal.check_epilogue(p)
    local e = p.epilogue
    if e.quantize then
      if not internal.largest[p.d] then fail(('wg.gemm: epilogue.quantize makes e4m3 or e5m2, not d = "%s"'):format(p.d)) end
      if p.n % 128 ~= 0 then fail(("wg.gemm: tile[2] is %d, must be a multiple of 128 for epilogue.quantize"):format(p.n)) end
    end
    if e.row_sums and p.halves then fail "wg.gemm: epilogue.row_sums goes without `halves`" end
    if not e.gate then return end
    if p.scaled then fail "wg.gemm: epilogue.gate goes without scales for blocks" end
    if p.b_major == "MN" and p.n % 64 ~= 0 then
      fail(("wg.gemm: tile[2] is %d, must be a multiple of 64 for epilogue.gate and an MN-major B"):format(p.n))
    end
  end

  --- Decides how C or the residual comes to the consumers: in stages of the ring that follow those of a tile's K blocks, a block of 64
  --- rows in each (`p.residual_stages`), where consumers share tiles and a block fits; otherwise into the panels of D. Not in clusters: a CTA's
  --- own stage does not tell that the same stage of the others is free as well.
  function internal.plan_residual(p)
    local e = p.epilogue
    local possible = not p.own_tiles and p.parts == 1 and not p.halves and p.cluster == 1
    if (e.beta or e.residual) and possible and p.panel.bytes * p.panel.count <= p.b.bytes then p.residual_stages = p.consumers * p.blocks end
  end

  --- Copies the blocks of C or the residual of a tile into stages of the ring, one for each consumer in turn. The producer with
  --- `map` copies; where there is another one, it says that it has nothing to add.
  function internal.copy_residual(k, p, ring, cursor, elected, map, buffer, row, column)
    for i = 0, p.residual_stages - 1 do
      ring:acquire(cursor)
      k:if_(elected, function()
        if not map then return k:mbarrier_arrive(ring:full_barrier(cursor)) end
        local barrier = ring:expect(cursor, p.panel.bytes * p.panel.count)
        local to, first = buffer + cursor.stage * p.b.bytes, 64 * (i % p.consumers * p.blocks + i // p.consumers)
        for panel = 0, p.panel.count - 1 do
          local place = internal.panel_place(p.panel, first == 0 and row or row + first, column, panel)
          k:cp_async_bulk_tensor_2d(panel == 0 and to or to + panel * p.panel.bytes, map, place, barrier)
        end
      end)
      ring:advance(cursor)
    end
  end

  --- Calls body(block, address) for each of the consumer's blocks, with the address of its C in a stage of the ring.
  function internal.each_residual(k, p, ring, cursor, buffer, lane, mine, body)
    local function release()
      ring:release(cursor, { lane = lane })
      ring:advance(cursor)
    end
    local function pass(stages) -- those of other consumers
      if p.consumers == 1 then return end
      k:loop(stages, function()
        ring:wait(cursor)
        release()
      end)
    end
    for block = 1, p.blocks do
      pass(mine)
      ring:wait(cursor)
      body(block, buffer + cursor.stage * p.b.bytes)
      release()
      pass(p.consumers - 1 - mine)
    end
  end

  --- The kernel's parameters for the epilogue of a plan, into `sizes` and `maps`.
  function internal.epilogue_parameters(k, p, sizes, maps)
    local e = p.epilogue
    if e.alpha then sizes.alpha = k:param("alpha", "f32") end
    if e.beta then sizes.beta = k:param("beta", "f32") end
    if e.beta or e.residual then
      local box = { constant = true }
      for key, value in pairs(p.panel.box) do box[key] = value end
      maps.C = k:tensor_map(e.beta and "C" or "residual", box)
    end
    if e.bias then sizes.bias = k:param("bias", "const f32*") end
    if e.gate then
      maps.gate = k:tensor_map("gate", { tile = p.b_piece, constant = true })
      if e.bias then sizes.gate_bias = k:param("gate_bias", "const f32*") end
      if p.scales.b_scales then sizes.gate_scales = k:param("gate_scales", "const f32*") end
    end
    if e.quantize then sizes.d_scales = k:param("d_scales", "f32*") end
    if e.row_sums then
      sizes.row_sums, sizes.row_partials = k:param("row_sums", "f32*"), k:param("row_partials", "f32*")
      sizes.row_counters = k:param("row_counters", "u32*")
    end
  end

  --- The options of k:epilogue that the epilogue of a plan takes. given: maps, sizes, stages of the kernel, mine (the consumer),
  --- factors(names): the list of the scales with these names that factor out of the sums.
  function internal.epilogue_of_kernel(k, p, given)
    local e, sizes, stages, mine = p.epilogue, given.sizes, given.stages, given.mine
    local matrix = given.maps.C and (p.residual_stages and {} or { map = given.maps.C, barrier = k:address(stages.c, mine << 3) })
    local function bias(from) return from and { along = e.bias, from = from, extent = e.bias == "row" and sizes.M or sizes.N } end
    local function finish(_, sum)
      local mean = k:div_full(sum, k:cvt_rn_f32_u32(sizes.N))
      return k:rsqrt_approx_ftz(k:add(mean, e.epsilon or 1e-6))
    end
    return {
      alpha = sizes.alpha, beta = sizes.beta, source = e.beta and matrix, residual = e.residual and matrix, activation = e.activation,
      bias = bias(sizes.bias), gate = e.gate and { of = e.gate, bias = bias(sizes.gate_bias), scales = given.factors { "a_scales", "gate_scales" } },
      scales = given.factors { "a_scales", "b_scales" },
      vectors = p.vectors > 0 and k:address(stages.vectors, mine * (4 * p.n * p.vectors)) or nil,
      quantize = e.quantize and {
        to = sizes.d_scales, stride = (sizes.M + 3) & ~3, rows = sizes.M, columns = sizes.N,
      },
      row_sums = e.row_sums and {
        blocks = p.blocks, of = e.row_sums == "rms" and "squares" or e.row_sums, finish = e.row_sums == "rms" and finish or nil, to = sizes.row_sums,
        partials = sizes.row_partials, counters = sizes.row_counters, rows = sizes.M, columns = sizes.N, flag = k:address(stages.flags, mine << 2),
      },
    }
  end

  local function vector(name, given, want, one)
    local shape = internal.shape_of(given)
    if not shape or #shape ~= 1 or shape[1] ~= want then fail(("gemm: %s must be a vector of %d f32, one for each %s"):format(name, want, one)) end
  end

  -- Raises unless the tensor called `name` is as large as the one called `as`.
  local function same(name, tensor, as, rows, columns)
    local got_rows, got_columns = internal.matrix("gemm: " .. name, tensor)
    if got_rows ~= rows or got_columns ~= columns then
      fail(("gemm: %s is %d x %d, but %s is %d x %d"):format(name, got_rows, got_columns, as, rows, columns))
    end
  end

  --- The shape of the scales of a quantised D of M x N.
  local function d_scales_shape(M, N) return { ceil_div(N, 128), ceil_div(M, 4) * 4 } end

  --- Appends the values of the plan's epilogue to `args`, in the order of the kernel's parameters. `gemm` keeps the workspace
  --- of row sums.
  function internal.epilogue_arguments(gemm, given, B, D, args)
    local p = gemm.plan
    local e = p.epilogue
    local option = { C = "beta", d_scales = "quantize" }
    for _, name in ipairs { "alpha", "beta", "C", "bias", "gate", "residual", "row_sums", "d_scales" } do
      local wanted = e[option[name] or name]
      if given[name] ~= nil and not wanted then
        fail(("gemm: `%s` is given, but the epilogue of wg.gemm has no `%s`"):format(name, option[name] or name))
      end
      if wanted and given[name] == nil and name ~= "alpha" and name ~= "beta" then
        fail(("gemm: `%s` is missing: the epilogue needs it"):format(name))
      end
    end
    local rows, columns = D.shape[1], D.shape[2]
    local function add(value) args[#args + 1] = value end
    if e.alpha then add(given.alpha or 1.0) end
    if e.beta then
      same("C", given.C, "D", rows, columns)
      add(given.beta or 1.0)
      add(given.C)
    elseif e.residual then
      same("residual", given.residual, "D", rows, columns)
      add(given.residual)
    end
    local function add_bias(name)
      local by_row = (e.bias == "row") ~= p.swapped
      vector(name, given[name], by_row and rows or columns, (by_row and "row" or "column") .. " of D")
      add(given[name])
    end
    if e.bias then add_bias "bias" end
    if e.gate then
      same("gate", given.gate, "B", B.shape[1], B.shape[2])
      add(given.gate)
      if e.bias then add_bias "gate_bias" end
      if p.scales.b_scales then
        vector("gate_scales", given.gate_scales, p.scales.b_scales == "all" and 1 or columns, "scale of B")
        add(given.gate_scales)
      end
    end
    if given.gate_bias ~= nil and not (e.gate and e.bias) then
      fail "gemm: `gate_bias` is given, but the epilogue of wg.gemm has no `gate` or no `bias`"
    end
    if given.gate_scales ~= nil and not (e.gate and p.scales.b_scales) then
      fail "gemm: `gate_scales` is given, but wg.gemm has no `scales.b` or no `epilogue.gate`"
    end
    if e.quantize then
      internal.same_shape("gemm: d_scales, ceil(N / 128) x M, M rounded up to a multiple of 4,", given.d_scales, d_scales_shape(rows, columns))
      add(given.d_scales)
    end
    if e.row_sums then
      vector("row_sums", given.row_sums, rows, "row of D")
      add(given.row_sums)
      local tiles, parts = ceil_div(rows, 64 * p.blocks), ceil_div(columns, p.n)
      local key = tiles .. " x " .. parts
      if gemm.row_tiles ~= key then
        gemm.row_tiles = key
        gemm.row_partials, gemm.row_counters = wg.zeros("f32", { parts * tiles * 64 * p.blocks }), wg.zeros("u32", { tiles })
      end
      add(gemm.row_partials)
      add(gemm.row_counters)
    end
  end

  --- Values for the epilogue of a plan, to measure with: tensors by option of a launch. b_shape: that of B; random(rows, columns, dtype)
  --- makes a matrix.
  function internal.epilogue_tensors(p, M, N, b_shape, random)
    local e = p.epilogue
    local by_row = (e.bias == "row") ~= p.swapped
    local bias = e.bias and wg.randn { shape = { by_row and M or N }, dtype = "f32", seed = 1 } or nil
    return {
      C = e.beta and random(M, N, p.d) or nil, residual = e.residual and random(M, N, p.d) or nil,
      bias = bias,
      gate = e.gate and random(b_shape[1], b_shape[2], p.dtype) or nil, gate_bias = e.gate and bias,
      row_sums = e.row_sums and wg.zeros("f32", { M }) or nil,
      d_scales = e.quantize and wg.zeros("f32", d_scales_shape(M, N)) or nil,
    }
  end

  --- Adds what a launch without wg.gemm must know of the epilogue to `notes`, for kernel:export.
  function internal.epilogue_notes(p, notes)
    local e = p.epilogue
    if e.gate then notes.gate = "as B" end
    if e.gate and e.bias then notes.gate_bias = "as bias" end
    if e.gate and p.scales.b_scales then notes.gate_scales = "as b_scales" end
    if e.residual then notes.residual = "as D" end
    if e.quantize then notes.d_scales = "ceil(N / 128) x M, M rounded up to a multiple of 4" end
    if e.row_sums then
      notes.row_sums = "one for each row of D"
      notes.row_partials = ("M, rounded up to a multiple of %d, for each of the ceil(N / %d) columns of tiles"):format(64 * p.blocks, p.n)
      notes.row_counters = ("ceil(M / %d), zeros before the first launch"):format(64 * p.blocks)
    end
  end
end
