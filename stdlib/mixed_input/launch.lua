-- Launches of wg.gemm{ b_type = }.

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local parameters = require "wgrun.builder.parameters"
local roofline = require "wgrun.cost.roofline"
local plan = require "wgrun.epilogue.plan"
local launch = require "wgrun.mainloop.launch"
local scales = require "wgrun.mainloop.scales"
local packed = require "wgrun.mixed_input.packed"
local native = require "wgrun.native"
local memory = require "wgrun.reduction.memory"

local module = {}

local fail, ceil_div = native.fail, roofline.ceil_div
local text = arguments.shape_text

-- Scales or zero points, of groups of elements of K.
local function of_groups(p, name)
  return function(l)
    local want = text { l.K // p.group_size, l.N }
    local got = text(arguments.shape_of(l.given[name]))
    if got ~= want then
      fail(("gemm: %s must be K / %d x N = %s %s, not %s"):format(name, p.group_size, want, p.dtype, got))
    end
    return l.given[name]
  end
end

-- The scale of all weights.
local function of_tensor(l)
  local shape = arguments.shape_of(l.given.b_scales)
  if not shape or math.max(1, table.unpack(shape)) ~= 1 or l.given.b_scales.dtype ~= "f32" then
    fail(("gemm: b_scales must be one f32, the scale of all weights, not %s"):format(text(shape)))
  end
  return l.given.b_scales
end

--- The kernel's parameters (builder/parameters.lua). A launch has what those of mainloop/launch.lua have, and `gemm`.
function module.parameters(p)
  local box = { dtype = p.dtype, box = { p.m, p.k_slices * p.groups_of_slice // p.scale_copies }, constant = true }
  local note = ("K / %d x N"):format(p.group_size)
  local grid = p.stream_k and "" or ("; the grid has %d x ceil(M / %d) x ceil(N / %d) CTAs"):format(p.splits, p.n, p.m)
  return parameters.list(function(add)
    add { name = "A", map = { tile = p.a, constant = true } }
    add { name = "B", as = "weights", type = "const u32*", note = "as wg.prepack gives them" .. grid }
    if p.panel then add { name = "D", map = p.panel.box } end
    for _, name in ipairs { "M", "N", "K" } do
      add { name = name, type = "u32", least = name == "K" and p.scheduler.least_k(p) or nil }
    end
    if not p.fp4 then add { name = "b_scales", map = box, value = of_groups(p, "b_scales"), note = note } end
    if p.fp4 and p.fp4.of_tensor then
      add { name = "b_scales", type = "const f32*", value = of_tensor, note = "one, of all weights" }
    end
    if p.zeros then add { name = "b_zeros", map = box, value = of_groups(p, "b_zeros"), note = note } end
    if p.small_m then
      add {
        name = "A_few", value = function(l) return l.A end,
        map = { dtype = p.dtype, box = { 128 // p.element_bytes, p.small_m }, swizzle = "128B", constant = true },
        note = ("A again, for launches with up to %d rows"):format(p.small_m),
      }
    end
    if p.next then
      add {
        name = "next", type = "const u32*",
        value = function(l)
          local following, want = text(arguments.shape_of(l.given.next)), text(l.B.shape)
          if following ~= want then fail(("gemm: next is %s, must be weights like B, %s"):format(following, want)) end
          return l.given.next
        end,
      }
    end
    plan.add_parameters(p, add)
    scales.add_parameters(p, add)
    if p.stream_k then memory.parameters(p, add) end
  end)
end

-- N of a launch without D: the columns of its scales; where these are packed with the weights, the rows of these.
local function columns_of(p, B, values)
  local shape = arguments.shape_of(p.fp4 and B or values.b_scales)
  if p.fp4 then return shape and 64 * shape[1] or 0 end
  if not shape or #shape ~= 2 then fail(("gemm: b_scales must be K / %d x N"):format(p.group_size)) end
  return shape[2]
end

--- A launch of `kernel`, of a plan with weights of another type than A. owner: has `plan` and `shared`. D: nil where
--- the kernel has another result.
function module.make(owner, kernel, A, B, D, values)
  local p = owner.plan
  for _, name in ipairs { "metadata", "offsets", "sizes", "count" } do
    if values[name] ~= nil then fail(("gemm: `%s` does not go with wg.gemm{ b_type = }"):format(name)) end
  end
  local M, K = arguments.matrix("gemm: A", A)
  local rows, N = M, D or columns_of(p, B, values)
  if D then rows, N = arguments.matrix("gemm: D", D) end
  if rows ~= M then fail(("gemm: D has %d rows, but A has %d"):format(rows, M)) end
  if K % p.group_size ~= 0 then
    fail(("gemm: K is %d, must be a multiple of the %d elements that share a scale"):format(K, p.group_size))
  end
  if N % 8 ~= 0 then fail(("gemm: N is %d, must be a multiple of 8 with b_type"):format(N)) end
  local want = text(packed.shape(p.b_type, p.dtype, N, K))
  local got = text(arguments.shape_of(B))
  if got ~= want then
    fail(
      ("gemm: B is %s, but %d x %d weights of %s%s are packed to %s"):format(
        got, N, K, p.b_type, p.factor_bytes > 0 and " for an A of e4m3" or "", want),
      ('wg.prepack(W, "%s"%s%s)'):format(
        p.b_type, p.fp4 and ", scales" or "", p.factor_bytes > 0 and ', "e4m3"' or ""))
  end
  if D then packed.check(B, N, K) end
  if values.b_scales ~= nil and p.fp4 and not p.fp4.of_tensor then
    fail(("gemm: `b_scales` is given, but weights of %s are packed with their scales"):format(p.b_type))
  end
  if values.b_zeros ~= nil and not p.zeros then
    fail "gemm: `b_zeros` is given, but not of a wg.gemm{ zeros = true }"
  end
  if values.next ~= nil and not p.next then fail "gemm: `next` is given, but not of a wg.gemm{ next = true }" end
  if values.a_scales ~= nil and not p.scales.a_scales then
    fail(("gemm: `a_scales` is given, but %s has no such `scales`"):format(p.what))
  end
  plan.check_values(p, values)
  return launch.make(owner, kernel, {
    A = A, B = B, D = D, M = M, N = N, K = K, rows = M, columns = N, given = values, gemm = owner,
    rows_of_tiles = ceil_div(N, p.m), columns_of_tiles = ceil_div(M, p.n),
  })
end

--- Options that are worth measuring for a plan.
function module.space(p)
  local list = { {} }
  for _, rows in ipairs { 64, 128 } do
    for _, block_k in ipairs { 64, 128, 256, rows == 64 and 512 or nil } do
      local tile = { rows, p.n, block_k }
      for _, splits in ipairs { 1, 2, 3, 4, 6, 8 } do list[#list + 1] = { tile = tile, splits = splits } end
      list[#list + 1] = { tile = tile, stream_k = true }
    end
  end
  return list
end

--- Operands to measure a plan with: A, B, and the values of a launch; random(rows, columns, dtype) makes a matrix. The
--- weights are random bits.
function module.operands(gemm, p, random)
  local M, N, K = table.unpack(gemm.problem)
  local shape, of_a = { K // p.group_size, N }, scales.scale_shapes(p, M, N, K).a_scales
  local of_b = packed.shape(p.b_type, p.dtype, N, K)
  local B = wg.randint { shape = of_b, dtype = "u32", lo = 0, hi = 0xFFFFFFFF, seed = 1 }
  return random(M, K, p.dtype), B, arguments.extended({
    b_scales = not p.fp4 and wg.randn { shape = shape, dtype = p.dtype, seed = 2 }
      or p.fp4.of_tensor and wg.ones("f32", { 1 }) or nil,
    next = p.next and B or nil, a_scales = of_a and wg.randn { shape = of_a, dtype = "f32", seed = 4 } or nil,
    b_zeros = p.zeros and wg.randint { shape = shape, dtype = p.dtype, lo = 0, hi = 15, seed = 3 } or nil,
  }, plan.tensors(p, M, N, { N, K }, random))
end

return module
