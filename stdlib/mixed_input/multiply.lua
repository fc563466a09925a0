-- What a warpgroup of wg.gemm{ b_type = } does with 64 rows of weights: it converts them to operands of wgmma, and
-- multiplies them by the rows of A.
--
-- The operands of some steps of K are converted in one set of registers while the tensor cores multiply from the other:
--
--   CUDA cores     convert 0   convert 1   convert 0   ...
--   tensor cores               wgmma 0     wgmma 1     ...
--
-- With few rows of A, the products of a group of K have sums of their own, `products`, which are scaled in f32 and
-- added when the group is complete (`p.scales_sums`). With many rows there are no registers for that, and each weight
-- is scaled as it is converted. A stage of the ring is given back one block of K later, when its products are known to
-- be complete.

local division = require "wgrun.builder.division"
local mixed_input_convert = require "wgrun.mixed_input.convert"
local packed = require "wgrun.mixed_input.packed"

local module = {}

local divided = division.divided

-- Loads the scales and zero points of a stage's slice of K from shared memory. load(stage) returns a function of a step
-- of K and of one of the thread's two rows.
local function scale_loader(k, p, buffers, convert, mine)
  local at_scales = ((mine.block << 6) + ((mine.thread >> 5) << 4) + (mine.thread >> 2 & 7)) << 1
  if p.k_slices > 1 then at_scales = at_scales + mine.slice * p.slice_scale_bytes end
  local of_rows = { k:address(buffers.b_scales, at_scales), p.zeros and k:address(buffers.b_zeros, at_scales) or nil }

  return function(stage)
    local groups = {}
    for group = 0, p.groups_of_slice - 1 do
      groups[group] = {}
      for half = 0, 1 do
        local values = {}
        for i, at in ipairs(of_rows) do
          values[i] = k:reg "b16"
          k:ld_shared_b16(values[i], at + stage * p.scale_bytes, { offset = group * p.m * 2 + 16 * half })
        end
        groups[group][half] = convert.prepare(half, values[1], values[2])
      end
    end
    return function(step, half) return (groups[16 * step // p.group_size] or groups[0])[half] end
  end
end

-- The same for weights of fp4, whose scales lie behind the weights of each unit. from: where those of the first stage
-- begin.
local function fp4_scale_loader(k, p, convert, mine, from)
  local words = p.fp4.scale_bytes // 128
  local row = ((mine.thread >> 5) << 3) + (mine.thread >> 2 & 7)
  from = from + (p.unit_bytes - p.fp4.scale_bytes) + row * (4 * words)
  return function(stage)
    local at = from + stage * (p.blocks * p.weight_bytes)
    return convert.scales(function(unit)
      local loaded, options = k:regs("b32", words), { offset = unit * p.unit_bytes }
      if words == 2 then k:ld_shared_v2_b32(loaded, at, options) else k:ld_shared_b32(loaded[0], at, options) end
      return { loaded[0], words == 2 and loaded[1] or nil }
    end)
  end
end

-- Loads the warpgroup's weights, scales and zero points of a stage from shared memory into registers. load(stage)
-- returns functions of a step of K: its words; and, of one of the thread's two rows, what `convert`
-- takes for it.
local function loader(k, p, buffers, convert, mine)
  local first = k:address(buffers.weights) + mine.block * p.weight_bytes
  if p.k_slices > 1 then first = first + mine.slice * (p.weight_bytes // p.k_slices) end
  local load_scales = p.fp4 and fp4_scale_loader(k, p, convert, mine, first)
    or scale_loader(k, p, buffers, convert, mine)
  local base, words = first + (mine.thread << 4), k:regs("b32", p.slice_k // p.step_k * convert.words)

  return function(stage)
    local from = base + stage * (p.blocks * p.weight_bytes)
    for i = 0, #words - 1, 4 do k:ld_shared_v4_b32(words:slice(i, 4), from, { offset = i // 4 * p.unit_bytes }) end
    return function(step) return words:slice(step * convert.words, convert.words) end, load_scales(stage)
  end
end

-- What the warpgroup has: registers for operands and sums, the descriptor of its part of A, and the mbarriers of the
-- ring.
local function multiplier_of(g, mine, acc)
  local k, p, ring, buffers = g.k, g.p, g.ring, g.buffers
  local me = {
    k = k, p = p, acc = acc, convert = mixed_input_convert.emit(k, p, buffers), lane = mine.thread & 31, operands = {},
  }
  me.load = loader(k, p, buffers, me.convert, mine)
  me.products, me.scales = p.scales_sums and k:regs("f32", p.n // 2) or acc, p.scales_sums and k:regs("f32", 2)
  for set = 0, 1 do me.operands[set] = k:regs("b32", 4 * p.steps) end
  function me.descriptor_ahead(step) return p.a:descriptor(0, step) - p.a:descriptor(0) end
  me.a = k:descriptor(
    buffers.a, { offset = p.k_slices > 1 and mine.slice * (me.descriptor_ahead(p.slice_k // p.step_k) << 4) or nil })

  for r = 0, #acc - 1 do k:mov(acc[r], 0.0) end
  if p.scales_sums then
    for r = 0, #acc - 1 do k:mov(me.products[r], 0.0) end
    for half = 0, 1 do k:mov(me.scales[half], 0.0) end
  end

  -- In registers that the assembler cannot compute anew each time, from the CTA's place in its cluster.
  me.full, me.empty = k:reg "u32", k:reg "u32"
  k:shfl_sync_idx_b32(me.full, k:address(ring.full), 0, 31)
  k:shfl_sync_idx_b32(me.empty, k:address(ring.empty), 0, 31)
  me.leads = me.lane:eq(0)
  return me
end

-- acc += products * scales, for the thread's two rows.
local function add_products(me)
  for r = 0, #me.acc - 1 do me.k:fma(me.acc[r], me.products[r], me.scales[r // 2 % 2], me.acc[r]) end
end

-- Gives back the stage before this one: its products are complete, and its weights were read so long ago that the fence
-- need not wait for them. One lane arrives for its warp.
local function release_stage_before(me, stage, guard)
  me.k:fence_proxy_async { space = "shared::cta" }
  me.k:bar_warp_sync(0xFFFFFFFF)
  me.k:mbarrier_arrive(me.empty + 8 * ((stage - 1) % me.p.stages), { guard = guard })
end

-- The operands of `steps` steps from `first` on, into the set of registers whose turn it is.
local function convert_steps(me, first, words_of, scales_of)
  local operands, steps = me.operands[first // me.p.steps % 2], me.convert.steps
  for i = 0, me.p.steps - 1, steps do
    local made = me.convert.convert(first + i, words_of, scales_of)
    for r = 0, 4 * steps - 1 do me.k:mov(operands[4 * i + r], made[r]) end
  end
  return operands
end

-- Begins to multiply these operands by the rows of A, whose descriptor at the beginning of the block is `a`. fresh: the
-- products begin anew.
local function multiply_steps(me, first, operands, a, fresh)
  local k, p = me.k, me.p
  local form = { n = p.n, k = p.step_k, d = "f32", a = p.dtype, b = p.dtype, trans_b = p.step_k == 16 and 0 or nil }
  k:wgmma_fence()
  for i = 0, p.steps - 1 do
    local ahead = me.descriptor_ahead(first + i)
    form.scale_d = fresh and i == 0 and 0 or 1
    k:wgmma_mma_async(me.products, operands:slice(4 * i, 4), ahead == 0 and a or k:add(a, ahead), form)
  end
  k:wgmma_commit_group()
end

-- A block of K: the last products are in flight at its end. releases: a predicate of the lanes that release the stage
-- before.
local function block_of_k(me, stage, phase, releases)
  local k, p = me.k, me.p
  k:mbarrier_wait(me.full + 8 * stage, phase)
  local words_of, scales_of = me.load(stage)
  local a = stage == 0 and me.a or k:add(me.a, stage * p.a.bytes >> 4)
  for first = 0, p.slice_k // p.step_k - 1, p.steps do
    local operands = convert_steps(me, first, words_of, scales_of)
    if p.scales_sums and first == 0 then
      k:wgmma_wait_group(0)
      release_stage_before(me, stage, releases)
      add_products(me)
      for half = 0, 1 do k:mov(me.scales[half], scales_of(0, half).factor) end
      multiply_steps(me, first, operands, a, true)
    else
      multiply_steps(me, first, operands, a)
      k:wgmma_wait_group(1) -- the other set is free; the first time, so is the stage before
      if first == 0 then release_stage_before(me, stage, releases) end
    end
  end
end

-- The blocks of a CTA's only slice of K, which begin with the first stage. Rounds of the ring are unrolled, so that
-- what depends on the stage is a constant of the instructions.
local function each_block(me, blocks)
  local k, p = me.k, me.p
  local phase, left = k:mov(0, { type = "u32" }), k:mov(blocks, { type = "u32" })
  k:while_(function() return left:gt(0) end, function()
    block_of_k(me, 0, phase, me.leads & left:lt(blocks))
    for stage = 1, p.stages - 1 do
      k:if_(left:gt(stage), function() block_of_k(me, stage, phase, me.leads) end)
    end
    k:sub(left, left, k:min(left, p.stages))
    k:xor(phase, phase, 1)
  end)
end

-- The blocks of a work unit, with stream_k: from the stage behind those of the unit before, which is in `place`, to
-- the one before `last`, both counted from the beginning of a round.
local function each_block_of_piece(me, blocks, place)
  local k, p = me.k, me.p
  local last = k:mov(place.stage + blocks, { type = "u32" })
  k:repeat_(function()
    k:if_(place.stage:eq(0), function() block_of_k(me, 0, place.phase, me.leads & place.begun:ne(0)) end)
    for stage = 1, p.stages - 1 do
      k:if_(place.stage:le(stage) & last:gt(stage), function() block_of_k(me, stage, place.phase, me.leads) end)
    end
    local wrapped = last:ge(p.stages)
    k:xor(place.phase, place.phase, 1, { guard = wrapped })
    k:sub(last, last, p.stages, { guard = wrapped })
    k:mov(place.stage, k:selp_b32(0, last, wrapped, { type = "u32" }))
    k:mov(place.begun, 1)
    return last:gt(place.stage)
  end)
end

-- The factors of the sums of the thread's two rows of weights: what converting leaves, times the scale of all weights
-- or what is packed for each row.
local function factors_of_sums(g, mine, left)
  local k, p, scale = g.k, g.p, g.sizes.b_scales
  if not scale and p.factor_bytes == 0 then return { [0] = left, left } end
  if not p.constant then k:griddepcontrol_wait() end
  if scale then
    left = k:mul(k:ld_global_f32(scale), left)
    return { [0] = left, left }
  end
  local of, bytes = packed.blocks(g)
  local row = ((mine.thread >> 5) << 4) + (mine.thread >> 2 & 7)
  local from = k:add(of(g.sizes.weights, mine.block), k:cvt_u64_u32(bytes - p.factor_bytes + (row << 2)))
  return { [0] = k:ld_global_f32(from), k:ld_global_f32(from, { offset = 32 }) }
end

--- The sums of a work unit, in `acc`, an array of n / 2 registers. mine: block (which 64 rows of the tile), slice
--- (which slice of a block of K), thread (in the warpgroup), and with stream_k place: where the warpgroup stands in the
--- ring.
function module.emit(g, mine, acc, work)
  local k, p, me = g.k, g.p, multiplier_of(g, mine, acc)
  local blocks = divided(k, work.to - work.from, p.block_k)
  local factors = factors_of_sums(g, mine, me.convert.left)
  if mine.place then each_block_of_piece(me, blocks, mine.place) else each_block(me, blocks) end
  k:wgmma_wait_group(0)
  if p.scales_sums then add_products(me) end
  if factors[0] ~= 1.0 then
    for r = 0, #acc - 1 do k:mul(acc[r], acc[r], factors[r // 2 % 2]) end
  end
end

return module
