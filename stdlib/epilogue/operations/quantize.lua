-- Divides D, an 8-bit float, by a scale for each row and 128 columns (epilogue/row_reductions.lua).

local wg = require "wgrun"
local arguments = require "wgrun.arguments"
local roofline = require "wgrun.cost.roofline"
local native = require "wgrun.native"
local elements = require "wgrun.tile.elements"

local fail, ceil_div = native.fail, roofline.ceil_div
local note = "ceil(N / 128) x M, M rounded up to a multiple of 4"

return {
  step = 7, options = { "quantize" }, launch = { { name = "d_scales", of = "quantize" } },
  cycles = function(e) return e.quantize and 0.03 or 0 end,
  check = function(p)
    if not p.epilogue.quantize then return end
    if not elements.largest[p.d] then
      fail(('wg.gemm: epilogue.quantize makes e4m3 or e5m2, not d = "%s"'):format(p.d))
    end
    if p.n % 128 ~= 0 then
      fail(("wg.gemm: tile[2] is %d, must be a multiple of 128 for epilogue.quantize"):format(p.n))
    end
  end,
  samples = function(of, out)
    out.d_scales = of.e.quantize and wg.zeros("f32", { ceil_div(of.N, 128), ceil_div(of.M, 4) * 4 }) or nil
  end,
  parameters = function(p, add)
    if not p.epilogue.quantize then return end
    add {
      name = "d_scales", type = "f32*", note = note,
      value = function(l)
        arguments.same_shape(
          "gemm: d_scales, " .. note .. ",", l.given.d_scales, { ceil_div(l.columns, 128), ceil_div(l.rows, 4) * 4 })
        return l.given.d_scales
      end,
    }
  end,
  operands = function(of)
    local sizes = of.sizes
    return {
      quantize = of.e.quantize
        and { to = sizes.d_scales, stride = (sizes.M + 3) & ~3, rows = sizes.M, columns = sizes.N },
    }
  end,
}
