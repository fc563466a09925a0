-- The epilogue of wg.gemm: what its option `epilogue` says, the kernel's parameters for it, and their values at a launch.

return function(wg, internal)
  local fail, options, ceil_div = internal.fail, internal.options, internal.ceil_div
  local what = "wg.gemm, epilogue"

  -- The operations, in their order (operations/). Each is a table:
  --
  --   step        the order in which they are applied, and of their parameters
  --   options     their names in the option `epilogue` of wg.gemm
  --   read        function(given, e): checks them, and keeps them in e; where it is left out they are true or false
  --   apart       by option, those that it goes without
  --   check       function(p): raises where they contradict the plan
  --   cycles      function(e): those of an SM for an element
  --   launch      the options of a launch: { name =, of = the option of wg.gemm that it goes with, optional = whether it may be left out }
  --   check_launch  function(p, given)
  --   parameters  function(p, add): the kernel's parameters for them (builder/parameters.lua)
  --   operands    function(of): the options of k:epilogue, for which are the next ones
  --   accept      function(opts): raises where they are not what they have to be
  --   vectors     function(opts): of these options, what goes along rows or columns
  --   element     function(k, opts, at): returns function(x, r, acc, c), or nil where they are left out (epilogue/elementwise.lua)
  local operations = {}
  for _, name in ipairs(internal.modules) do
    if name:find "^epilogue%.operations%." then operations[#operations + 1] = require("wgrun." .. name)(wg, internal) end
  end
  table.sort(operations, function(a, b) return a.step < b.step end)
  internal.epilogue_operations = operations

  -- Calls the operations' functions of that name.
  local function each(name, ...)
    for _, operation in ipairs(operations) do
      if operation[name] then operation[name](...) end
    end
  end

  local function flag(given, name)
    if given[name] ~= nil and type(given[name]) ~= "boolean" then
      fail(("%s: %s must be true or false, not %s"):format(what, name, tostring(given[name])))
    end
    return given[name] or nil
  end

  --- An option of the epilogue that is one of some words, or with `more` a function.
  function internal.one_of_option(given, name, legal, more)
    local value = given[name]
    for _, candidate in ipairs(legal) do if value == candidate then return value end end
    if value == nil or value == false or more and type(value) == "function" then return value or nil end
    fail(("%s: unknown %s `%s` (legal: %s%s)"):format(what, name, tostring(value), table.concat(legal, ", "), more or ""))
  end

  --- An option that is an activation, by name or as a function of what `takes` says.
  function internal.activation_option(given, name, takes)
    local of = given[name]
    if of == nil or of == false then return nil end
    internal.activation(("%s: unknown %s"):format(what, name), of, takes)
    return of
  end

  --- A model of what an activation costs an SM for an element.
  function internal.activation_cycles(of) return of == "gelu" and 0.05 or of and of ~= "relu" and 0.1 or 0 end

  --- The option `epilogue` of wg.gemm, checked. Its field `cycles` are those of an SM for an element, a model of what the
  --- operations cost besides storing D.
  function internal.epilogue_options(given)
    options(what, given)
    local e = {}
    for _, operation in ipairs(operations) do
      for _, name in ipairs(operation.options) do
        for _, other in ipairs(given[name] and operation.apart and operation.apart[name] or {}) do
          if given[other] then fail(("%s: `%s` goes without `%s`"):format(what, name, other)) end
        end
        if not operation.read then e[name] = flag(given, name) end
      end
      if operation.read then operation.read(given, e) end
    end
    e.plain = next(e) == nil
    e.cycles = 0
    for _, operation in ipairs(operations) do e.cycles = e.cycles + (operation.cycles and operation.cycles(e) or 0) end
    return e
  end

  --- Raises where the epilogue of a plan contradicts its other options.
  function internal.check_epilogue(p) each("check", p) end

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

  --- A box whose matrix no launch writes that may still run.
  function internal.constant_box(box) return internal.extended({ constant = true }, box) end

  --- Adds the kernel's parameters for the epilogue of a plan. Their values take of a launch: `given`, its options; B; `rows` and
  --- `columns` of D; `gemm`, which keeps workspaces.
  function internal.add_epilogue_parameters(p, add) each("parameters", p, add) end

  --- The options of k:epilogue that the epilogue of a plan takes. given: maps, sizes, stages of the kernel, mine (the consumer),
  --- factors(names): the list of the scales with these names that factor out of the sums.
  function internal.epilogue_of_kernel(k, p, given)
    local e, sizes, stages, mine = p.epilogue, given.sizes, given.stages, given.mine
    local of = {
      k = k, e = e, sizes = sizes, stages = stages, mine = mine, blocks = p.blocks, factors = given.factors,
      matrix = given.maps.C and (p.residual_stages and {} or { map = given.maps.C, barrier = k:address(stages.c, mine << 3) }),
      bias = function(from) return from and { along = e.bias, from = from, extent = e.bias == "row" and sizes.M or sizes.N } end,
    }
    local out = { vectors = p.vectors > 0 and k:address(stages.vectors, mine * (4 * p.n * p.vectors)) or nil }
    for _, operation in ipairs(operations) do internal.extended(out, operation.operands(of)) end
    return out
  end

  --- The vector called `name` of a launch's options, which has `want` values, `one` for each.
  function internal.vector_of_launch(name, l, want, one)
    local shape = internal.shape_of(l.given[name])
    if not shape or #shape ~= 1 or shape[1] ~= want then fail(("gemm: %s must be a vector of %d f32, one for each %s"):format(name, want, one)) end
    return l.given[name]
  end

  --- Raises unless the tensor called `name` is as large as the one called `as`.
  function internal.same_extents(name, tensor, as, rows, columns)
    local got_rows, got_columns = internal.matrix("gemm: " .. name, tensor)
    if got_rows ~= rows or got_columns ~= columns then
      fail(("gemm: %s is %d x %d, but %s is %d x %d"):format(name, got_rows, got_columns, as, rows, columns))
    end
  end

  --- The matrix called `name` of a launch's options, which is as large as D.
  function internal.like_d(name, l)
    internal.same_extents(name, l.given[name], "D", l.rows, l.columns)
    return l.given[name]
  end

  --- Raises for options of a launch that the plan's epilogue does not have, and where one is missing.
  function internal.check_epilogue_values(p, given)
    for _, operation in ipairs(operations) do
      for _, one in ipairs(operation.launch or {}) do
        local wanted = p.epilogue[one.of]
        if given[one.name] ~= nil and not wanted then
          fail(("gemm: `%s` is given, but the epilogue of wg.gemm has no `%s`"):format(one.name, one.of))
        end
        if wanted and given[one.name] == nil and not one.optional then fail(("gemm: `%s` is missing: the epilogue needs it"):format(one.name)) end
      end
    end
    each("check_launch", p, given)
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
      d_scales = e.quantize and wg.zeros("f32", { ceil_div(N, 128), ceil_div(M, 4) * 4 }) or nil,
    }
  end
end
