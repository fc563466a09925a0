-- Scales of A and B: of blocks of K, which a main loop applies (mainloop/block_scaled.lua), and of rows or of all,
-- which an epilogue does. A plan's field `scales` has what a_scales and b_scales are along: "block", "row" or "column"
-- of D, or "all".

local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"

local module = {}

local fail, ceil_div = native.fail, roofline.ceil_div

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

return module
