-- The epilogue of wg.gemm: its option `epilogue`, the kernel's parameters for it, and their values at a launch.

local arguments = require "wgrun.arguments"
local operations = require "wgrun.epilogue.operations"
local native = require "wgrun.native"
local panels = require "wgrun.tile.panel"

local module = {}

local fail, options = native.fail, arguments.options
local what = "wg.gemm, epilogue"

-- Calls the operations' functions of that name.
local function each(name, ...)
  for _, operation in ipairs(operations) do
    if operation[name] then operation[name](...) end
  end
end

--- The option `epilogue` of wg.gemm, checked. Its field `cycles` are those of an SM for an element, a model of what the
--- operations cost besides storing D.
function module.read(given)
  options(what, given)
  local e = {}
  for _, operation in ipairs(operations) do
    for _, name in ipairs(operation.options) do
      if not operation.read then e[name] = given[name] or nil end
    end
    if operation.read then operation.read(given, e) end
  end
  e.plain = next(e) == nil
  e.cycles = 0
  for _, operation in ipairs(operations) do e.cycles = e.cycles + (operation.cycles and operation.cycles(e) or 0) end
  return e
end

--- Raises where the epilogue of a plan contradicts its other options.
function module.check(p) each("check", p) end

--- Decides how C or the residual comes to the consumers: in stages of the ring that follow those of a tile's K blocks,
--- a block of 64 rows in each (`p.residual_stages`), where consumers share tiles and a block fits; otherwise into the
--- panels of D. Not in clusters: where a CTA's own stage is free, the same stage of the others need not be.
function module.plan_residual(p)
  local e = p.epilogue
  local possible = not p.pingpong and not p.reduction and not p.tail_m and p.cluster == 1
  if (e.beta or e.residual) and possible and p.panel.bytes * p.panel.count <= p.b.bytes then
    p.residual_stages = p.consumers * p.blocks
  end
end

--- Copies the blocks of C or the residual of a tile into stages of the ring, one for each consumer in turn. The
--- producer with `map` copies; another one arrives at the barrier, with nothing to add.
function module.copy_residual(k, p, ring, cursor, elected, map, buffer, row, column)
  for i = 0, p.residual_stages - 1 do
    ring:acquire(cursor)
    k:if_(elected, function()
      if not map then return k:mbarrier_arrive(ring:full_barrier(cursor)) end
      local barrier = ring:expect(cursor, p.panel.bytes * p.panel.count)
      local to, first = buffer + cursor.stage * p.b.bytes, 64 * (i % p.consumers * p.blocks + i // p.consumers)
      for panel = 0, p.panel.count - 1 do
        local place = panels.place(p.panel, first == 0 and row or row + first, column, panel)
        k:cp_async_bulk_tensor_2d(panel == 0 and to or to + panel * p.panel.bytes, map, place, barrier)
      end
    end)
    ring:advance(cursor)
  end
end

--- Calls body(block, address) for each of the consumer's blocks, with the address of its C in a stage of the ring.
function module.each_residual(k, p, ring, cursor, buffer, lane, mine, body)
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

--- Adds the kernel's parameters for the epilogue of a plan. Their values take of a launch: `given`, its options; B;
--- `rows` and `columns` of D; `gemm`, which keeps workspaces.
function module.add_parameters(p, add) each("parameters", p, add) end

--- The options of k:epilogue that the epilogue of a plan takes. given: maps, sizes, stages of the kernel, mine (the
--- consumer), factors(names): the list of the scales with these names that factor out of the sums.
function module.operands(k, p, given)
  local e, sizes, stages, mine = p.epilogue, given.sizes, given.stages, given.mine
  local of = {
    k = k, e = e, sizes = sizes, stages = stages, mine = mine, blocks = p.blocks, factors = given.factors,
    matrix = given.maps.C
      and (p.residual_stages and {} or { map = given.maps.C, barrier = k:address(stages.c, mine << 3) }),
    bias = function(from)
      return from and { along = e.bias, from = from, extent = e.bias == "row" and sizes.M or sizes.N }
    end,
  }
  local out = { vectors = p.vectors > 0 and k:address(stages.vectors, mine * (4 * p.n * p.vectors)) or nil }
  for _, operation in ipairs(operations) do arguments.extended(out, operation.operands(of)) end
  return out
end

--- Raises for options of a launch that the plan's epilogue does not have, and where one is missing.
function module.check_values(p, given)
  for _, operation in ipairs(operations) do
    for _, one in ipairs(operation.launch or {}) do
      local wanted = p.epilogue[one.of]
      if given[one.name] ~= nil and not wanted then
        fail(("gemm: `%s` is given, but the epilogue of wg.gemm has no `%s`"):format(one.name, one.of))
      end
      if wanted and given[one.name] == nil and not one.optional then
        fail(("gemm: `%s` is missing: the epilogue needs it"):format(one.name))
      end
    end
  end
  each("check_launch", p, given)
end

--- Values for the epilogue of a plan, to measure with: tensors by option of a launch. b_shape: that of B; random(rows,
--- columns, dtype) makes a matrix.
function module.tensors(p, M, N, b_shape, random)
  local out = {}
  each("samples", { p = p, e = p.epilogue, M = M, N = N, b_shape = b_shape, random = random }, out)
  return out
end

return module
