-- Scales of A and B: of blocks of K, which a main loop applies (mainloop/block_scaled.lua), and of rows or of all,
-- which an epilogue does. A plan's field `scales` has what a_scales and b_scales are along: "block", "row" or "column"
-- of D, or "all".

local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fail, ceil_div = native.fail, roofline.ceil_div

--- The option `scales` of wg.gemm, checked: along what of the accumulators those of A and of B go, or that they are of
--- blocks.
function module.read(p, given)
  if not given then return {} end
  arguments.options("wg.gemm, scales", given)
  if given.a == "1x128" or given.b == "128x128" then
    -- Weights of another type exclude block scales (mainloop/exclusions.lua).
    if p.b_type then return { a_scales = "block", b_scales = "block" } end
    if given.a ~= "1x128" or given.b ~= "128x128" then
      fail 'wg.gemm, scales: a = "1x128" and b = "128x128" go together'
    end
    if p.dtype ~= "e4m3" and p.dtype ~= "e5m2" then
      fail("wg.gemm, scales: block scales are of e4m3 and e5m2, not of " .. p.dtype)
    end
    return { a_scales = "block", b_scales = "block" }
  end
  local function along(which, rows)
    local kind = given[which]
    return kind == "tensor" and "all" or kind and rows
  end
  return {
    a_scales = along("a", p.swapped and "column" or "row"), b_scales = along("b", p.swapped and "row" or "column"),
  }
end

--- The shapes of a plan's scales, `a_scales` and `b_scales`, for a problem as given.
function module.scale_shapes(p, M, N, K, groups)
  local blocks = ceil_div(K, 128)
  local of = {
    a_scales = { block = { blocks, ceil_div(M, 4) * 4 }, all = { 1 }, each = { M } },
    b_scales = { block = { ceil_div(N, 128) * (groups or 1), blocks }, all = { 1 }, each = { N } },
  }
  local shapes = {}
  for name, along in pairs(p.scales) do shapes[name] = along and (of[name][along] or of[name].each) or nil end
  return shapes
end

local shapes = { -- of block scales
  a_scales = "ceil(K / 128) x M, a multiple of 4,", b_scales = "ceil(N / 128) x ceil(K / 128)",
}

--- The scales called `name` of a launch; raises where they have another shape than the plan's.
function module.scales_of_launch(p, name, l)
  local shape = arguments.shape_of(l.given[name]) or fail(("gemm: `%s` is missing: a tensor of f32"):format(name))
  local want = module.scale_shapes(p, l.rows, l.columns, l.K, l.groups)[name]
  local got, wanted = table.concat(shape, " x "), table.concat(want, " x ")
  local rule = #want == 2 and shapes[name] .. " = " or ""
  if got ~= wanted then fail(("gemm: %s must be %s%s f32, not %s"):format(name, rule, wanted, got)) end
  return l.given[name]
end

--- Adds the kernel's parameters for scales that factor out of the sums over K.
function module.add_parameters(p, add)
  for _, name in ipairs { "a_scales", "b_scales" } do
    if p.scales[name] and not p.block_scaled then
      add { name = name, type = "const f32*", value = function(l) return l.scales(name) end }
    end
  end
end

--- The operands of k:epilogue for those of the scales called `names` that factor out of the sums over K: of rows or
--- columns of D, or of all of it.
function module.factors(p, sizes, names)
  local out = {}
  for _, name in ipairs(names) do
    local along = p.scales[name == "gate_scales" and "b_scales" or name]
    if along and not p.block_scaled then
      out[#out + 1] = {
        along = along, from = sizes[name], extent = along == "row" and sizes.M or along == "column" and sizes.N or 1,
      }
    end
  end
  return out
end

return module
