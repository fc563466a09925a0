-- A ring of stages in shared memory between producers (bulk copies) and consumers (wgmma). Each stage has two
-- mbarriers: `full` counts the bytes that arrive, `empty` the consumers that are done with it. PTX ISA 9.7.13.15.

return function(internal)
  local k = internal.methods.builder
  local fail, options = internal.fail, internal.options

  --- The address (u32 register) of a shared buffer, plus `offset` bytes (a number or a register).
  function k:address(buffer, offset)
    local base = self:mov(buffer, { type = "u32" })
    if offset == nil or offset == 0 then return base end
    return base + offset
  end

  --- Waits until the phase of that parity (0 or 1) of the mbarrier at `address` is complete.
  function k:mbarrier_wait(address, parity)
    self:while_(function()
      return self["not"](self, self:mbarrier_try_wait_parity(address, parity))
    end, function() end)
  end

  --- Copies a tile of a matrix in global memory to shared memory by TMA: one box for each of its panels, all
  --- announced to the mbarrier (pipeline:expect). By one thread.
  --- opts: tile, map (k:tensor_map of the tile), to (address: u32 register), mn, k (the tile's first row and K element
  ---       in the matrix: registers or numbers), barrier (address), whole (the tile in shared memory that this one
  ---       is a piece of, default itself), mask (of the CTAs of the cluster that get it), policy (of the L2 cache: a
  ---       register of k:createpolicy_...).
  function k:load_tile(opts)
    options("k:load_tile", opts, { "tile", "map", "to", "mn", "k", "barrier", "whole", "mask", "policy" })
    local tile, whole = internal.object("k:load_tile, tile", opts.tile, "tile"), opts.whole or opts.tile
    internal.object("k:load_tile, whole", whole, "tile")
    for _, key in ipairs { "to", "mn", "k" } do internal.count("k:load_tile, " .. key, opts[key]) end
    local options_of = { mask = opts.mask, policy = opts.policy }
    for _, panel in ipairs(tile.tma_box.panels) do
      local offset = whole:offset(panel.mn, panel.k)
      local row = panel.mn == 0 and opts.mn or opts.mn + panel.mn
      local column = panel.k == 0 and opts.k or opts.k + panel.k
      if math.type(row) == "integer" then row = self:mov(row, { type = "u32" }) end
      if math.type(column) == "integer" then column = self:mov(column, { type = "u32" }) end
      local place = tile.major == "K" and { column, row } or { row, column }
      self:cp_async_bulk_tensor_2d(offset == 0 and opts.to or opts.to + offset, opts.map, place, opts.barrier, options_of)
    end
  end

  local pipeline = {}
  pipeline.__index = pipeline
  internal.pipeline = pipeline

  --- A pipeline of `stages` stages; `arrivals` consumers release each stage (over the whole cluster: with
  --- multicast every CTA's consumers release the stage in every CTA that fills it).
  --- `producers` threads (default 1) each announce their share of a stage's bytes.
  --- One thread of the CTA calls init(), then all meet at a barrier (of the cluster, where there is one).
  function k:pipeline(opts)
    options("k:pipeline", opts, { "stages", "arrivals", "producers", "name" })
    local stages = math.tointeger(opts.stages) or fail "k:pipeline: `stages` must be an integer"
    if stages < 1 or stages > 32 then fail(("k:pipeline: %d stages: 1 to 32"):format(stages)) end
    internal.kinds("k:pipeline", opts, { name = "string" })
    local name = opts.name or "pipeline"
    return setmetatable({
      k = self, stages = stages, arrivals = opts.arrivals or 1,
      producers = internal.whole("k:pipeline: producers", opts.producers or 1, 1, 1024),
      full = self:shared { bytes = 8 * stages, align = 8, name = name .. "_full" },
      empty = self:shared { bytes = 8 * stages, align = 8, name = name .. "_empty" },
    }, pipeline)
  end

  --- Makes the barriers. By one thread.
  function pipeline:init()
    local b = self.k
    for s = 0, self.stages - 1 do
      b:mbarrier_init(b:address(self.full, 8 * s), self.producers)
      b:mbarrier_init(b:address(self.empty, 8 * s), self.arrivals)
    end
    b:fence_mbarrier_init()
  end

  --- Where a thread is in the ring: `stage` (u32) and `phase` (u32, the parity of the stage's current use).
  function pipeline:cursor()
    local b = self.k
    local c = { stage = b:reg "u32", phase = b:reg "u32" }
    b:mov(c.stage, 0)
    b:mov(c.phase, 0)
    return c
  end

  function pipeline:advance(c)
    local b = self.k
    b:add(c.stage, c.stage, 1)
    local wrapped = c.stage:eq(self.stages)
    b:mov(c.stage, 0, { guard = wrapped })
    b:xor(c.phase, c.phase, 1, { guard = wrapped })
  end

  --- Passes over `count` stages (a register) that somebody else uses.
  function pipeline:skip(c, count)
    local b = self.k
    b:add(c.stage, c.stage, count)
    local turns = b:div(c.stage, self.stages)
    b:sub(c.stage, c.stage, turns * self.stages)
    b:xor(c.phase, c.phase, turns & 1)
  end

  function pipeline:full_barrier(c) return self.k:address(self.full, c.stage << 3) end
  function pipeline:empty_barrier(c) return self.k:address(self.empty, c.stage << 3) end

  --- Producer: waits until the stage is free. Passes at once in the first round.
  function pipeline:acquire(c) self.k:mbarrier_wait(self:empty_barrier(c), c.phase ~ 1) end

  --- Producer: announces `bytes` bytes for the stage, and returns the barrier that the copies signal.
  function pipeline:expect(c, bytes)
    local barrier = self:full_barrier(c)
    self.k:mbarrier_arrive_expect_tx(barrier, bytes)
    return barrier
  end

  --- Consumer: waits until the stage is filled.
  function pipeline:wait(c) self.k:mbarrier_wait(self:full_barrier(c), c.phase) end

  --- Consumer: gives the stage back, one arrival a warp in each CTA of the cluster.
  --- opts: lane (register), cluster (CTAs that fill the stage, default 1), guard (predicate).
  function pipeline:release(c, opts)
    options("pipeline:release", opts, { "lane", "cluster", "guard" })
    internal.object("pipeline:release, lane", opts.lane, "reg")
    local b = self.k
    local cluster = opts.cluster or 1
    local arrives = cluster == 1 and opts.lane:eq(0) or opts.lane:lt(cluster)
    if opts.guard then arrives = arrives & opts.guard end
    local barrier = self:empty_barrier(c)
    if cluster > 1 then
      b:mbarrier_arrive(b:mapa(barrier, opts.lane), { space = "shared::cluster", guard = arrives })
    else
      b:mbarrier_arrive(barrier, { guard = arrives })
    end
  end
end
