-- A ring of stages in shared memory between producers (bulk copies) and consumers (wgmma). Each stage has two
-- mbarriers: `full` counts the bytes that arrive, `empty` the consumers that are done with it. PTX ISA 9.7.13.15.

local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local classes = require "wgrun.classes"
local native = require "wgrun.native"

local module = {}

local k = native.methods.builder
local fail, options = native.fail, arguments.options

--- The address of a shared buffer in shared memory, in a new u32 register.
--- @param buffer shared  made by k:shared
--- @param offset integer|reg?  bytes that are added
--- @return reg  u32
function k:address(buffer, offset)
  local base = self:mov(buffer, { type = "u32" })
  if offset == nil or offset == 0 then return base end
  return base + offset
end

--- Waits until the phase of an mbarrier that has the given parity is complete. Every thread that calls it waits.
--- @param address reg  u32: of the mbarrier in shared memory
--- @param parity integer|reg  0 for the first phase, 1 for the second, 0 for the third, ...
--- @see k:pipeline
function k:mbarrier_wait(address, parity)
  self:while_(function()
    return self["not"](self, self:mbarrier_try_wait_parity(address, parity))
  end, function() end)
end

--- A cache policy for bytes that are used once and should leave the L2 cache first.
function module.evict_first(b) return b:createpolicy_fractional_L2_evict_first(1.0) end

--- Copies a tile of a matrix in global memory to shared memory by TMA, one box for each panel of the tile. One
--- thread executes it, after it has announced the bytes to the mbarrier (pipeline:expect). Elements outside of the
--- matrix are filled with zeros.
--- @param options table
--- @option tile tile  the tile that is copied
--- @option map reg  the tensor map of the matrix: k:tensor_map(name, tile)
--- @option to reg  u32: address of the tile in shared memory
--- @option mn integer|reg  the tile's first row (M or N) in the matrix
--- @option k integer|reg  the tile's first K element in the matrix
--- @option barrier reg  u32: address of the mbarrier that counts the bytes
--- @option whole tile = tile  the tile in shared memory that `tile` is a piece of
--- @option mask integer|reg?  the CTAs of the cluster that receive the data, a bit each: multicast
--- @option policy reg?  a policy of the L2 cache, made by k:createpolicy_fractional
--- @see k:pipeline
function k:load_tile(opts)
  options("k:load_tile", opts)
  local tile, whole = arguments.object("k:load_tile, tile", opts.tile, "tile"), opts.whole or opts.tile
  arguments.object("k:load_tile, whole", whole, "tile")
  if arguments.describe(opts.to) == "wgrun.shared" then
    fail "k:load_tile, to: an address is expected, not a buffer: k:address(buffer)"
  end
  for _, key in ipairs { "to", "mn", "k" } do arguments.count("k:load_tile, " .. key, opts[key]) end
  for _, key in ipairs { "map", "barrier" } do
    if opts[key] == nil then fail(("k:load_tile: option `%s` is missing"):format(key)) end
  end
  if arguments.object("k:load_tile, map", opts.map, "reg").pointee then
    fail("k:load_tile, map: a pointer is no tensor map", "k:tensor_map(name, tile) in place of k:param(name, ...)")
  end
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

--- A ring of stages between producers and consumers, made by k:pipeline. Each role steps through it with a cursor of
--- its own.
--- @field stages integer  the number of stages
--- @field full shared  the mbarriers that count bytes, 8 bytes each
--- @field empty shared  the mbarriers that count consumers, 8 bytes each
--- @field arrivals integer  arrivals that release a stage
--- @field producers integer  threads that announce bytes for a stage
local pipeline = classes.new "pipeline"

-- A cursor, checked: `what` is the method that takes it. The barriers of a stage need no phase.
local function cursor_of(what, c)
  local register = type(c) == "table" and arguments.describe(c.stage) == "wgrun.reg"
  if not register or not what:find "_barrier$" and arguments.describe(c.phase) ~= "wgrun.reg" then
    fail(("pipeline:%s: expected a cursor, as pipeline:cursor() makes it, got %s"):format(what, arguments.describe(c)))
  end
  return c
end

--- A ring of stages in shared memory between producers, which fill them by bulk copies, and consumers, which
--- multiply them. Each stage has two mbarriers: `full` counts the bytes that arrive, `empty` the consumers that are
--- done. The caller allocates the memory of the stages: k:shared{ tile =, count = stages }. One thread of the CTA calls
--- pipeline:init, and then all threads wait at a barrier (of the cluster, where there is one).
--- @param options table
--- @option stages integer[1,32]  of the ring
--- @option arrivals integer[1,1048575] = 1  arrivals that release a stage, one for each consumer warp; with multicast,
---   those of all CTAs of the cluster
--- @option producers integer[1,1024] = 1  threads that each announce their share of a stage's bytes
--- @option name string = "pipeline"  the name of the barriers in messages: NAME_full, NAME_empty
--- @return pipeline
--- @example
---   local pipe = k:pipeline { stages = 4, arrivals = 4 }
---   k:if_(tid:eq(0), function() pipe:init() end)
---   k:bar_sync(0)
function k:pipeline(opts)
  if type(opts) == "number" then
    fail(("k:pipeline: a table of options is expected: k:pipeline{ stages = %s }"):format(opts))
  end
  opts = options("k:pipeline", opts)
  local stages = opts.stages
  return setmetatable({
    k = self, stages = stages, arrivals = opts.arrivals, producers = opts.producers,
    full = self:shared { bytes = 8 * stages, align = 8, name = opts.name .. "_full" },
    empty = self:shared { bytes = 8 * stages, align = 8, name = opts.name .. "_empty" },
  }, pipeline)
end

--- Initialises the mbarriers of all stages. One thread of the CTA executes it; the others wait at a barrier before
--- they use the pipeline.
function pipeline:init()
  local b = self.k
  for s = 0, self.stages - 1 do
    b:mbarrier_init(b:address(self.full, 8 * s), self.producers)
    b:mbarrier_init(b:address(self.empty, 8 * s), self.arrivals)
  end
  b:fence_mbarrier_init()
end

--- Makes a cursor for one role, at the first stage in its first round.
--- @param options table?
--- @option held boolean = false  the addresses of the barriers stay in registers, for a loop in which every cycle
---   between two products counts: otherwise the assembler makes them anew in each round. Whole warps execute it
--- @return table  the cursor
--- @field stage reg  u32: the stage, from 0
--- @field phase reg  u32: the parity of the stage's current round, 0 or 1
function pipeline:cursor(opts)
  if opts ~= nil then
    options("pipeline:cursor", opts)
  end
  local b = self.k
  local c = { stage = b:reg "u32", phase = b:reg "u32" }
  b:mov(c.stage, 0)
  b:mov(c.phase, 0)
  if opts and opts.held then
    for _, name in ipairs { "full", "empty" } do
      -- The assembler could make the address of a buffer anew where it is used, but not the result of a shuffle.
      c[name] = b:shfl_sync_idx_b32(b:address(self[name]), 0, 31)
    end
  end
  return c
end

--- Moves a cursor to the next stage; after the last stage comes the first one, in the next round.
--- @param c table  made by pipeline:cursor
function pipeline:advance(c)
  local b = self.k
  cursor_of("advance", c)
  b:add(c.stage, c.stage, 1)
  local wrapped = c.stage:eq(self.stages)
  b:mov(c.stage, 0, { guard = wrapped })
  b:xor(c.phase, c.phase, 1, { guard = wrapped })
end

--- Moves a cursor past stages that another role uses.
--- @param c table  made by pipeline:cursor
--- @param count integer|reg  the number of stages
function pipeline:skip(c, count)
  local b = self.k
  b:add(c.stage, c.stage, count)
  local turns = division.divided(b, c.stage, self.stages)
  b:sub(c.stage, c.stage, turns * self.stages)
  b:xor(c.phase, c.phase, turns & 1)
end

-- The address of a barrier of the cursor's stage: "full" or "empty".
local function barrier_of(self, name, c)
  cursor_of(name .. "_barrier", c)
  if c[name] then return c[name] + (c.stage << 3) end
  return self.k:address(self[name], c.stage << 3)
end

--- The address of the mbarrier that counts the bytes of the cursor's stage.
--- @param c table  made by pipeline:cursor
--- @return reg  u32
function pipeline:full_barrier(c) return barrier_of(self, "full", c) end

--- The address of the mbarrier that counts the consumers that are done with the cursor's stage.
--- @param c table  made by pipeline:cursor
--- @return reg  u32
function pipeline:empty_barrier(c) return barrier_of(self, "empty", c) end

--- Producer: waits until the consumers have released the cursor's stage. In the first round it passes at once.
--- @param c table  made by pipeline:cursor
function pipeline:acquire(c)
  cursor_of("acquire", c)
  self.k:mbarrier_wait(self:empty_barrier(c), c.phase ~ 1)
end

--- Producer: announces the bytes that copies will write to the cursor's stage.
--- @param c table  made by pipeline:cursor
--- @param bytes integer|reg  of all copies together
--- @return reg  u32: the address of the mbarrier that the copies signal
function pipeline:expect(c, bytes)
  local barrier = self:full_barrier(cursor_of("expect", c))
  arguments.count("pipeline:expect, bytes", bytes, 1)
  self.k:mbarrier_arrive_expect_tx(barrier, bytes)
  return barrier
end

--- Consumer: asks whether all bytes of the cursor's stage have arrived. The answer takes some time; what stands
--- between this and pipeline:wait hides them.
--- @param c table  made by pipeline:cursor
--- @param options table?
--- @option into reg?  a predicate, which gets the answer
--- @option guard reg?  a predicate: asks only where it holds
--- @return reg  the predicate, for pipeline:wait
function pipeline:try_wait(c, opts)
  cursor_of("try_wait", c)
  opts = options("pipeline:try_wait", opts)
  local arrived = opts.into or self.k:reg "pred"
  self.k:mbarrier_try_wait_parity(arrived, self:full_barrier(c), c.phase, { guard = opts.guard })
  return arrived
end

--- Consumer: waits until all bytes of the cursor's stage have arrived.
--- @param c table  made by pipeline:cursor
--- @param arrived reg?  what pipeline:try_wait returned for the stage: it waits only where that is false
function pipeline:wait(c, arrived)
  cursor_of("wait", c)
  local function wait() self.k:mbarrier_wait(self:full_barrier(c), c.phase) end
  if arrived == nil then return wait() end
  arguments.object("pipeline:wait, arrived", arrived, "reg")
  self.k:if_(~arrived, wait)
end

--- Consumer: releases the cursor's stage to the producers, with one arrival for each warp that calls it, at each CTA
--- of the cluster.
--- @param c table  made by pipeline:cursor
--- @param options table
--- @option lane reg  u32: the lane of the thread in its warp
--- @option cluster integer[1,16] = 1  the number of CTAs that fill the stage
--- @option to reg?  u32: the rank of the CTA at which the lane arrives, where it is one of the first `cluster` lanes;
---   the lane's number if it is left out
--- @option guard reg?  a predicate: the warp releases the stage only where it holds
function pipeline:release(c, opts)
  opts = options("pipeline:release", opts)
  arguments.object("pipeline:release, lane", opts.lane, "reg")
  local b, cluster = self.k, opts.cluster
  local arrives = cluster == 1 and opts.lane:eq(0) or opts.lane:lt(cluster)
  if opts.guard then arrives = arrives & opts.guard end
  local barrier = self:empty_barrier(c)
  if cluster > 1 then
    b:mbarrier_arrive(b:mapa(barrier, opts.to or opts.lane), { space = "shared::cluster", guard = arrives })
  else
    b:mbarrier_arrive(barrier, { guard = arrives })
  end
end

classes.close("a pipeline", pipeline)
classes.shield(k, "k:", { "address", "mbarrier_wait", "load_tile", "pipeline" })
classes.shield(pipeline, "pipeline:", {
  "init", "cursor", "advance", "skip", "full_barrier", "empty_barrier", "acquire", "expect", "try_wait", "wait",
  "release",
})

return module
