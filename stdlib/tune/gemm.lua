-- What there is to tune in wg.gemm: options worth measuring, and operands to measure with.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local cost = require "wgrun.cost.gemm"
local roofline = require "wgrun.cost.roofline"
local epilogue_plan = require "wgrun.epilogue.plan"
local gemm_plan = require "wgrun.gemm.plan"
local small_m_plan = require "wgrun.gemm.small_m"
local scales = require "wgrun.mainloop.scales"
local mixed_input_launch = require "wgrun.mixed_input.launch"
local native = require "wgrun.native"

local module = {}

-- choices for a small-M product: they had the fastest for 325 of 333 shapes (docs/experiments/small_m.md)
local most_small_m = 40

-- Options of wg.gemm that are worth measuring for a problem; those that turn out not to fit are skipped.
function module.space(gemm)
  local M, N = gemm.problem[1], gemm.problem[2]
  local list = { {} } -- the choice of wg.gemm itself
  local function add(candidate) list[#list + 1] = candidate end
  local plan = gemm_plan.make(gemm)
  if plan.mixed_input then return mixed_input_launch.space(plan) end
  if gemm_plan.kind(gemm) == "dense" then -- small M: what the plan's model finds fastest
    local given = {
      a_major = gemm.a_major, b_major = gemm.b_major, swap = plan.swap, splits = gemm.splits, cluster = gemm.cluster,
    }
    if gemm.tile then given.tile, given.swap = { plan.m, plan.n, plan.block_k }, plan.swapped end
    local bytes = native.element_bytes[plan.dtype]
    local small_m = small_m_plan.candidates(plan, M, N, gemm.problem[3], bytes, given, most_small_m)
    for _, c in ipairs(small_m) do
      add {
        tile = c.tile, splits = c.splits, cluster = c.cluster[1] * c.cluster[2] > 1 and c.cluster or nil,
        swap_ab = c.swapped,
      }
    end
    if #small_m > 0 then return list end
  end
  if gemm.sparse then
    for _, halves in ipairs { true, false } do
      add { tile = { 256, 176 }, schedule = "cooperative", halves = halves }
    end
  end
  for _, c in ipairs(cost.candidates(gemm_plan.kind(gemm), plan.products)) do
    local rows, columns = roofline.ceil_div(M, c.tile[1]), roofline.ceil_div(N, c.tile[2])
    local function with(key, value) add { tile = c.tile, schedule = c.schedule, [key] = value } end
    with("cluster", 1)
    if c.cluster then with("cluster", c.cluster) end
    if rows > 1 then with("cluster", 2) end
    if rows > 1 and columns > 1 then with("raster", "hilbert") end
    if rows > 8 then with("group", c.schedule == "pingpong" and 16 or 8) end
    if gemm.sparse and c.tile[1] == 256 then with("halves", true) end
    if c.schedule == "cooperative" then
      local tiles = rows * columns
      if tiles > roofline.sms() and tiles % roofline.sms() ~= 0 then with("stream_k", true) end
      local rest = tiles % roofline.sms()
      for splits = 2, plan.block_scaled and rest > 0 and math.min(4, roofline.sms() // rest) or 1 do
        with("last_splits", splits)
      end
      for _, splits in ipairs { 2, 3, 4, 6, 8 } do
        if tiles * splits <= 2 * roofline.sms() then with("splits", splits) end
      end
    end
  end
  return list
end

-- A matrix of normally distributed or, of integers, evenly distributed numbers.
local function random(rows, columns, dtype)
  if dtype == "s8" or dtype == "u8" or dtype == "s32" then
    return wg.randint {
      shape = { rows, columns }, dtype = dtype, lo = dtype == "u8" and 0 or -64, hi = 63, seed = rows + columns,
    }
  end
  return wg.randn { shape = { rows, columns }, dtype = dtype, seed = rows + columns }
end

-- A, B, and the values of a launch, for a plan without a b_type.
local function operands(gemm, plan)
  local M, N, K = table.unpack(gemm.problem)
  local a_mn, b_mn = gemm.a_major == "MN", gemm.b_major == "MN"
  local parts = plan.emulated and plan.emulated.parts or 1
  local A, B = random(a_mn and K or M * parts, a_mn and M or K, plan.dtype),
    random(b_mn and K or N * parts, b_mn and N or K, plan.dtype)
  local metadata
  if plan.sparse then A, metadata = wg.sparse.compress(wg.sparse.prune(A), "gemm") end
  local given = arguments.extended({ metadata = metadata }, epilogue_plan.tensors(plan, M, N, B.shape, random))
  for name, shape in pairs(scales.scale_shapes(plan, M, N, K)) do
    given[name] = wg.randn { shape = shape, dtype = "f32", seed = 2 }
  end
  if plan.products == 2 then given.gate_scales = given.b_scales end
  return A, B, given
end

-- The `build` function for options of wg.gemm, with random operands.
function module.builder(gemm)
  local plan = gemm_plan.make(gemm)
  if plan.groups then
    native.fail "wg.tune: the sizes of groups are data of a launch: wg.tune{ build = } for a grouped product"
  end
  local A, B, given = (plan.mixed_input and mixed_input_launch.operands or operands)(gemm, plan, random)
  local D = wg.zeros(plan.d, { gemm.problem[1], gemm.problem[2] })
  return function(candidate)
    local made = wg.gemm(arguments.merged(gemm, candidate))
    return made.kernel, made:launch(A, B, D, given)
  end
end

return module
