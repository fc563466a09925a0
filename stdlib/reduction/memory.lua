-- Split-K: CTAs that multiply different slices of K for the same tile add up their sums. Each writes its sums to a
-- workspace; the one that finishes last adds them up, always in the order of the slices, and continues with the total.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local classes = require "wgrun.classes"
local native = require "wgrun.native"
local sums = require "wgrun.reduction.sums"

local k = native.methods.builder
local options, divided = arguments.options, division.divided
local memory = {}

--- The reduction in global memory, for wg.mainloop: CTAs write the sums of their slices of K to a workspace, and the
--- one that finishes last adds them up, in a fixed order, and stores the tile.
--- @param options table?
--- @option splits integer[1,64] = 1  the slices of K; 1 with wg.scheduler.stream_k, which cuts K itself
--- @return table  for the option `reduction` of wg.mainloop
--- @see wg.mainloop.dense
function wg.reduction.memory(opts)
  return classes.strategy("reduction", memory, { splits = options("wg.reduction.memory", opts or {}).splits })
end

--- The range of K that belongs to one of several slices, in whole blocks. Every slice has at least one block where
--- there are as many blocks as slices.
--- @param options table
--- @option K reg  u32: the K extent
--- @option block integer  elements of K in a block
--- @option part integer|reg  the slice, from 0
--- @option splits integer  the number of slices
--- @return reg  u32: the first element
--- @return reg  u32: the one after the last
function k:part_of_k(opts)
  options("k:part_of_k", opts)
  local blocks = divided(self, opts.K + (opts.block - 1), opts.block)
  local from = divided(self, opts.part * blocks, opts.splits)
  local to = divided(self, (opts.part + 1) * blocks, opts.splits)
  return from * opts.block, to * opts.block
end

--- Split-K: adds up the accumulators of warpgroups that multiplied different slices of K. Each writes its sums to a
--- workspace; the one that finishes last adds all of them up, always in the order of the slices, and continues with
--- the total. All 128 threads execute it, and no CTA waits for another.
--- @param options table
--- @option acc table  a list of arrays of registers: the accumulators
--- @option partials reg  a pointer parameter to the accumulators' type: `splits` times as many elements as the tiles of
---   the grid have accumulators
--- @option counters reg  a pointer parameter to u32, one for each tile, 0 before and after the kernel
--- @option tile reg  u32: the index of the tile, for its counter and its place in the workspace
--- @option first reg?  u32: the place of the tile's first slice in the workspace, counted in slices; by default tile *
---   splits
--- @option part reg  u32: the slice, from 0
--- @option splits integer|reg  the number of slices, 2 to 65535; a register together with `first`
--- @option early boolean = false  a first slice that finds the sums of all others in the workspace keeps its own in
---   registers
--- @option barrier integer|reg  the number of a named barrier for the 128 threads
--- @option flag reg  u32: the address of 4 bytes of shared memory, 8 with `early`
--- @return reg  a predicate that holds in the warpgroup that finished last, whose accumulators then hold the sums of
---   all slices
function k:sum_parts(opts)
  options("k:sum_parts", opts)
  local acc = opts.acc
  if type(acc) ~= "table" or #acc == 0 then native.fail "k:sum_parts: `acc` must be a list of register arrays" end
  for _, block in ipairs(acc) do arguments.object("k:sum_parts, acc", block, "regs") end
  local splits, first, kind = opts.splits, opts.first, acc[1][0].type
  if first == nil or math.type(splits) == "integer" then arguments.whole("k:sum_parts: splits", splits, 2, 0xFFFF) end
  if first == nil then first = opts.tile * splits end
  local thread = self:special "tid.x" & 127
  local one = #acc * #acc[1] * 128 -- elements of one slice of a tile
  local counter = self:element(opts.counters, opts.tile)
  local leader = thread:eq(0)
  local function sync() self:bar_sync(opts.barrier, { threads = 128 }) end
  -- Adds the sums of `count` slices, from the one that has this place of the workspace.
  local function add(place, count)
    self:st_global_u32(counter, 0, { guard = leader })
    local at = self:element(opts.partials, place * one + (thread << 2))
    self:loop(count, function()
      sums.add(self, acc, "global", at, 0)
      self:add(at, at, 4 * one)
    end)
  end
  local function sum()
    local mine = self:element(opts.partials, (first + opts.part) * one + (thread << 2))
    sums.each_four(acc, function(four, place) self["st_global_v4_" .. kind](self, mine, four, { offset = place }) end)
    sync()
    self:if_(leader, function()
      self:st_shared_u32(opts.flag, self:atom_global_add_u32(counter, 1, { sem = "acq_rel.gpu" }))
    end)
    sync()
    local last = self:ld_shared_u32(opts.flag):eq(splits - 1)
    self:if_(last, function()
      for _, block in ipairs(acc) do
        for r = 0, #block - 1 do self:mov(block[r], 0) end
      end
      add(first, splits)
    end)
    return last
  end
  if not opts.early then return sum() end
  local arrived = self:mov(0, { type = "u32" })
  self:if_(opts.part:eq(0), function()
    self:if_(leader, function() self:st_shared_u32(opts.flag + 4, self:ld_acquire_gpu_global_u32(counter)) end)
    sync()
    self:ld_shared_u32(arrived, opts.flag + 4)
  end)
  local whole = self:mov(1, { type = "u32" })
  self:if_(arrived:eq(splits - 1), function() add(first + 1, splits - 1) end, function()
    self:mov(whole, 0, { guard = ~sum() })
  end)
  return whole:ne(0)
end

function memory.parameters(p, add)
  local of_tile, of_ctas = p.m * p.width, p.consumers * (p.scheduler.counters or 1)
  local elements, counters
  if p.stream_k then
    elements = ("%d elements for each CTA of the grid"):format(2 * of_tile)
    counters = ("%d for each CTA of the grid, zeros before the first launch"):format(of_ctas)
  elseif p.last_splits > 1 then
    elements = ("%d elements for each %d CTAs of the grid"):format(p.slices * of_tile, p.slices)
    counters = ("%d for each %d CTAs of the grid, zeros before the first launch"):format(of_ctas, p.slices)
  else
    local tiles = ("for each of the ceil(M / %d) * %d * ceil(N / %d) tiles"):format(
      p.m * p.cluster_m, p.cluster, p.n * p.cluster_n)
    elements, counters = ("%d elements %s"):format(p.splits * of_tile, tiles),
      ("%d %s, zeros before the first launch"):format(of_ctas, tiles)
  end
  add { name = "partials", type = p.accumulator .. "*", note = elements, value = function(l) return l.partials() end }
  add { name = "counters", type = "u32*", note = counters, value = function(l) return l.counters() end }
end

-- Four bytes for each consumer; eight with sums that may stay in registers (k:sum_parts, early).
function memory.shared(k, p)
  local bytes = 4 * (p.scheduler.counters or 1)
  return { flags = k:shared { bytes = bytes * p.consumers, align = bytes, name = "flags" } }
end
function memory.begin() end

-- For some work units only the run decides how many slices their tile has, and where their place is: shared(block).
function memory.consumer(g, me)
  local k, p, sizes = g.k, g.p, g.sizes
  return function(acc, work, store)
    local of = work.shared and work.shared(me.block) or work
    -- The predicate holds in the CTA that comes last, which then has the tile's sums.
    local function sum()
      local first = of.first and of.first()
      return k:sum_parts {
        acc = acc, partials = sizes.partials, counters = sizes.counters,
        tile = first or work.number * p.consumers + me.number, first = first, part = of.slice,
        splits = of.count or p.slices, early = of.count ~= nil, barrier = me.number + 1,
        flag = k:address(g.buffers.flags, me.number << (of.count and 3 or 2)),
      }
    end
    if not of.cut then return k:if_(sum(), store) end
    local whole = k:mov(1, { type = "u32" })
    k:if_(of.cut, function() k:mov(whole, 0, { guard = ~sum() }) end)
    k:if_(whole:ne(0), store)
  end
end

--- The sums and counters in global memory for launches of a product, made for the first launch of a size. owner: has
--- `plan` and `shared`; size: { tiles of a launch, slices of each tile }.
function memory.workspace_of(owner, size)
  local p, shared, tiles, slices = owner.plan, owner.shared, size[1], size[2]
  local elements = tiles * slices * p.m * p.width
  if elements > 0xFFFFFFFF then
    native.fail(
      ("gemm: %d splits of %d tiles need %d sums: at most 2^32 - 1 are possible"):format(slices, tiles, elements))
  end
  if shared.workspace_tiles ~= tiles then
    shared.workspace_tiles = tiles
    shared.partials, shared.counters = wg.empty(p.accumulator, { elements }), wg.zeros("u32", { tiles * p.consumers })
  end
  return shared.partials, shared.counters
end

classes.shield(k, "k:", { "part_of_k", "sum_parts" })
classes.shield(wg.reduction, "wg.reduction.", { "memory" })

return memory
