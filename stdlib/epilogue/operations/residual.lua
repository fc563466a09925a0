-- + a matrix of D's type, after the activation.

local options = require "wgrun.epilogue.options"

return {
  step = 5, options = { "residual" }, launch = { { name = "residual", of = "residual" } },
  samples = function(of, out) out.residual = of.e.residual and of.random(of.M, of.N, of.p.d) or nil end,
  parameters = function(p, add)
    if not p.epilogue.residual then return end
    add {
      name = "residual", as = "C", map = options.constant_box(p.panel.box), note = "as D",
      value = function(l) return options.like_d("residual", l) end,
    }
  end,
  operands = function(of) return { residual = of.e.residual and of.matrix } end,
  element = function(k, opts)
    if not opts.residual then return nil end
    return function(x, r, _, c) return k:add(x, c[r]) end
  end,
}
