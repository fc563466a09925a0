-- A product: persistent CTAs, in which warps of a producer warpgroup copy tiles by TMA (mainloop/produce.lua) and one
-- to three consumer warpgroups multiply them by wgmma (mainloop/consume.lua) and give the sums to an epilogue.
-- k:pipeline is the ring between them, and each of them walks over the tiles by itself (scheduler/tiles.lua).
--
-- A product is put together from a plan `p` (mainloop/plan.lua) by its strategies:
--
--   p.kind        the main loop (mainloop/dense.lua)
--   p.scheduler   the tiles (scheduler/tiles.lua)
--   p.reduction   the sums of slices of K (reduction/cluster.lua), or nil
--   p.gather      where A comes from several devices (collective/all_gather.lua), or nil
--
-- and from an epilogue. While it is emitted it is a table `g`: k, p; maps and sizes, the kernel's parameters; buffers,
-- in shared memory; ring.

local arguments = require "wgrun.arguments"
local meeting = require "wgrun.builder.meeting"
local signals = require "wgrun.collective.signals"
local consume = require "wgrun.mainloop.consume"
local produce = require "wgrun.mainloop.produce"
local zeros = require "wgrun.mainloop.zeros"

local module = {}

-- Zeros in the rows of the stages that boxes at an edge leave out. Before they are there the threads must meet.
local function clear_edges(g)
  local k, p = g.k, g.p
  local operands, clear = { A = { p.a, g.buffers.a }, B = { p.b, g.buffers.b } }, nil
  for _, name in ipairs { "A", "B" } do
    local rows, tile, buffer = p.edges[name], table.unpack(operands[name])
    if rows then
      clear = clear or zeros.emit(k, p.threads)
      local panel = tile.mn * 128
      k:loop(p.stages * (tile.bytes // panel), function(i) clear(buffer, rows * 128, panel, i * panel) end)
    end
  end
  if clear then k:fence_proxy_async { space = "shared::cta" } end
end

-- The warps of the producer warpgroup: one copies, or two do. Then the first copies an operand that the previous grid
-- of the stream does not write, and need not wait for that.
local function producers(g, warp)
  local k, p = g.k, g.p
  local function role(number, body) k:if_(warp:eq(number), body) end
  if p.gather then role(1, function() p.gather.fetch(g) end) end
  if not p.constant then
    return role(0, function() produce.emit(g, { A = true, B = true, C = true, scales = true }) end)
  end
  local other = p.constant == "A" and "B" or "A"
  role(0, function() produce.emit(g, { [p.constant] = true }) end)
  role(1, function()
    k:griddepcontrol_wait()
    produce.emit(g, { [other] = true, C = true, scales = true })
  end)
end

-- The buffers in shared memory: stages of the operands, those of the epilogue, and the mbarriers between roles.
local function shared_memory(g, epilogue)
  local k, p = g.k, g.p
  local buffers = {
    a = k:shared { tile = p.a, count = p.stages, name = "A" },
    b = k:shared { tile = p.b, count = p.stages, name = "B" },
  }
  local function add(more) arguments.extended(buffers, more) end
  if epilogue.shared then add(epilogue.shared(k)) end
  add(p.kind.shared(k, p))
  buffers.turns = p.pingpong and k:shared { bytes = 16, align = 8, name = "turns" } or nil
  if epilogue.small then add(epilogue.small(k)) end
  if p.reduction then add(p.reduction.shared(k, p)) end
  if p.gather then add(p.gather.shared(k)) end
  return buffers
end

-- What one thread does before all others begin.
local function begin(g, epilogue)
  local k, buffers = g.k, g.buffers
  for _, name in ipairs { "A", "B", "A_edge", "B_edge", "gate", "C", "D", "a_scales" } do
    if g.maps[name] then k:prefetch_tensormap(g.maps[name]) end
  end
  if buffers.turns then
    for c = 0, 1 do k:mbarrier_init(k:address(buffers.turns, 8 * c), 4) end
  end
  if epilogue.begin then epilogue.begin(g) end
  if g.p.reduction then g.p.reduction.begin(g) end
  if g.p.gather then g.p.gather.begin(g) end
  g.ring:init()
end

--- The CTAs of a cluster of the plan's kernel.
function module.cluster_ctas(p) return p.dsmem and p.splits or p.cluster end

--- Emits the body of a kernel that computes the product of a plan. epilogue: consumer(g, me, acc, added), as
--- epilogue.emit; and where it has some, shared(k) and small(k), its buffers of many and of few bytes, and begin(g),
--- emitted for one thread before all others begin.
function module.emit(k, p, maps, sizes, epilogue)
  local g = { k = k, p = p, maps = maps, sizes = sizes }
  p.kind.sizes(k, p, sizes)
  g.buffers = shared_memory(g, epilogue)
  -- Every warp that reads a stage releases it to each CTA that fills it: those along M, from which its B comes, and
  -- along N.
  local readers = 4 * (p.pingpong and 1 or p.consumers)
  g.ring = k:pipeline {
    stages = p.stages, arrivals = readers * p.multicast_producers, producers = p.constant and 2 or 1,
  }
  local function sync_all() meeting.all(k, module.cluster_ctas(p)) end

  local thread = k:special "tid.x"
  k:if_(thread:eq(0), function() begin(g, epilogue) end)
  clear_edges(g)
  -- The next grid of the stream may start now, just as this one may have started early: its prologue then overlapped
  -- the end of the previous grid, and griddepcontrol.wait waits for that grid's results. An operand that the previous
  -- grid does not write need not wait: it has a producer of its own, and no consumer proceeds before the other
  -- producer has waited.
  k:griddepcontrol_launch_dependents()
  if not p.constant then k:griddepcontrol_wait() end
  if p.collective then signals.read_launch(g) end
  sync_all()
  if p.collective then signals.count_launch(g) end
  k:if_((thread >> 7):eq(0), function()
    k:setmaxnreg_dec(p.registers[1])
    producers(g, k:shfl_sync_idx_b32(thread >> 5, 0, 31)) -- the warp's number, the same in all lanes
  end, function()
    k:setmaxnreg_inc(p.registers[2])
    consume.emit(g, function(me, acc, added) return epilogue.consumer(g, me, acc, added) end)
  end)
  -- A CTA must not end while others of its cluster may still write to it or arrive at its barriers.
  if p.cluster > 1 then sync_all() end
end

return module
