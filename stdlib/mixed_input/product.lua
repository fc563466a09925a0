-- A mixed-input product: its B are weights of 4 or 8 bits, which become operands of A's type in registers.
--
-- A and B are swapped, so that D is computed transposed. 64 rows of weights are wgmma's A, which may be in registers;
-- rows of A, perhaps few, are its columns, in shared memory. A CTA has a tile of 64 or 128 rows of weights and up to
-- 256 rows of A. With split-K (`splits`) the CTAs of a cluster have slices of the tile's K; with stream-K (`stream_k`)
-- each CTA has one work unit after the other.
--
--   copying warp  mixed_input/copies.lua    weights, scales and A, into a ring with a stage for each block of K
--   warpgroups    mixed_input/convert.lua   weights from shared memory to operands in registers
--                 mixed_input/multiply.lua  times A's stages, one step of K converted while another is multiplied
--                 reduction/warpgroups.lua  the sums of slices of K in a cluster; reduction/memory.lua, of CTAs
--                 k:epilogue                which stores them, transposed
--
-- Its strategies are those of other products (mainloop/product.lua): a scheduler (scheduler/grid.lua,
-- equal_shares.lua), reductions one after the other, an epilogue. Its roles differ: a warp copies before the CTA's
-- threads have met. Where a block of K is longer than 128, more warpgroups have a slice of each block: more of them
-- convert at a time.

local arguments = require "wgrun.arguments"
local division = require "wgrun.builder.division"
local zeros = require "wgrun.mainloop.zeros"
local mixed_input_copies = require "wgrun.mixed_input.copies"
local fp4_e4m3 = require "wgrun.mixed_input.fp4_e4m3"
local sums = require "wgrun.mixed_input.multiply"

local module = {}

local divided = division.divided

-- With stream_k: where a warpgroup stands in the ring. `begun`: it has had a stage to release.
local function place_of(k)
  local place = {}
  for _, name in ipairs { "stage", "phase", "begun" } do place[name] = k:mov(0, { type = "u32" }) end
  return place
end

-- A consumer: warpgroup `number` of those that multiply. The sums of its 64 rows go to those of other slices of K in
-- the CTA or the cluster first; with stream_k, those of a tile that several CTAs have then go through a workspace.
local function consume(g, number, epilogue)
  local k, p = g.k, g.p
  local me = {
    number = number, block = divided(k, number, p.k_slices), slice = number & (p.k_slices - 1),
    thread = k:special "tid.x" & 127,
  }
  local acc = k:regs("f32", p.n // 2)
  local store, finish = epilogue.consumer(g, me)
  if p.stream_k then me.place, me.round = place_of(k), k:mov(0, { type = "u32" }) end
  local reductions = {}
  for i, reduction in ipairs(p.reductions) do reductions[i] = reduction.consumer(g, me) end
  p.scheduler.each(g, {}, function(place, work)
    sums.emit(g, me, acc, work)
    local function reduce(i)
      if reductions[i] then return reductions[i]({ acc }, work, function() reduce(i + 1) end) end
      local row, column = place()
      store(acc, row + (me.block << 6), column)
      if not p.stream_k then finish() end
    end
    reduce(1)
  end)
  if p.stream_k then finish() end
end

-- What one thread does before all others begin.
local function begin(g, epilogue)
  local k, p, maps = g.k, g.p, g.maps
  for _, name in ipairs { "A", "A_few", "b_scales", "b_zeros", "C", "D" } do
    if maps[name] then k:prefetch_tensormap(maps[name]) end
  end
  if epilogue.begin then epilogue.begin(g) end
  for _, reduction in ipairs(p.reductions) do reduction.begin(g) end
  if p.splits == 1 and epilogue.begin then k:fence_mbarrier_init() end
end

local function of_scales(k, p, name) return k:shared { bytes = p.stages * p.scale_bytes, align = 128, name = name } end

-- The buffers in shared memory: stages, mbarriers, and the sums that CTAs and warpgroups send each other. Panels of D,
-- where the plan has some, stand in their place.
local function shared_memory(k, p, epilogue)
  local bytes, align = p.owned * p.sums_bytes, p.panel and p.panel.align or 16
  local buffers = {
    a = k:shared { tile = p.a, count = p.stages, name = "A" },
    sums = bytes > 0 and k:shared { bytes = bytes, align = align, name = "D" } or nil,
    weights = k:shared { bytes = p.stages * p.blocks * p.weight_bytes, align = 128, name = "B" },
    b_scales = not p.fp4 and of_scales(k, p, "b_scales") or nil,
    b_zeros = p.zeros and of_scales(k, p, "b_zeros") or nil,
    products = p.factor_bytes > 0 and fp4_e4m3.table_of(k) or nil,
  }
  if epilogue.shared then arguments.extended(buffers, epilogue.shared(k)) end
  for _, reduction in ipairs(p.reductions) do arguments.extended(buffers, reduction.shared(k, p)) end
  return buffers
end

--- Emits the body of a kernel that computes the product of a plan. epilogue: consumer(g, me), returns store and finish,
--- as those of k:epilogue, of the consumer `me` (`number`, and `block`, its 64 rows of the tile); and where it has
--- some, shared(k), its buffers, and begin(g), emitted for one thread before all others begin.
function module.emit(k, p, maps, sizes, epilogue)
  local g = { k = k, p = p, maps = maps, buffers = shared_memory(k, p, epilogue) }
  g.sizes = setmetatable({ M = sizes.N, N = sizes.M }, { __index = sizes }) -- as the accumulators have them
  g.ring = k:pipeline { stages = p.stages, arrivals = 4 * p.consumers }
  local warp = k:reg "u32"
  g.work = p.scheduler.first(g)
  k:shfl_sync_idx_b32(warp, k:special "tid.x" >> 5, 0, 31) -- the same in all lanes
  local copies = warp:eq(4 * p.consumers)
  g.small_m = p.small_m and sizes.M:le(p.small_m) or nil
  local copy = mixed_input_copies.emit(g)
  k:griddepcontrol_launch_dependents()
  -- Weights come as soon as there are mbarriers that count them, before the other warps, and CTAs, are ready.
  k:if_(copies, function()
    local elected = k:elect_sync()
    k:if_(elected, function() g.ring:init() end)
    copy.begin()
    k:if_(elected, function() begin(g, epilogue) end)
  end)
  if g.small_m or p.prefetched > 0 or g.buffers.products then
    k:if_(warp:lt(4 * p.consumers), function()
      if g.buffers.products then fp4_e4m3.fill(k, g.buffers.products) end
      if p.prefetched > 0 then copy.prefetch() end
      if g.small_m then
        k:if_(g.small_m, function()
          zeros.emit(k, 128 * p.consumers)(g.buffers.a, 0, p.stages * p.a.bytes)
          k:fence_proxy_async { space = "shared::cta" }
        end)
      end
    end)
  end
  if p.splits == 1 then
    k:bar_sync(0)
  else
    -- fence.mbarrier_init has released what others must see, but for zeros and the table
    k:barrier_cluster_arrive { sem = (g.small_m or g.buffers.products) and "release" or "relaxed" }
    k:barrier_cluster_wait()
  end
  k:if_(warp:ge(4 * p.consumers), function()
    if p.registers then k:setmaxnreg_dec(p.registers[1]) end
    k:if_(copies, copy.finish)
  end, function()
    if p.registers then k:setmaxnreg_inc(p.registers[2]) end
    consume(g, warp >> 2, epilogue)
  end)
end

return module
